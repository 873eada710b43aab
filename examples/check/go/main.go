// Judges a history of two processes by whorl, as a Go test of a lock might.
//
// The C++ libraries are named by CGO_LDFLAGS, and the repository by CGO_CFLAGS: tests/check/go_example.sh.
package main

/*
#include <stdlib.h>
#include "check/check_c.h"
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"os"
	"unsafe"
)

type verdict struct {
	Invariants map[string]struct {
		Verdict string
		Text    string
	}
}

func taken(text *C.char) string {
	defer C.whorl_check_free_text(text)
	return C.GoString(text)
}

func run() error {
	// b has a log of its own, and "pattern" says how it is read: this, or a file.
	options := C.CString(`{"protocol": "fenced_lease", "clock_error": "10ms", "pattern": {
		"time": "%Y-%m-%d %H:%M:%S",
		"lines": [
			{"match": "^(?P<time>\\S+ \\S+) (?P<id>\\w+) begins (?P<lock>\\w+)", "event": "works"},
			{"match": "^(?P<time>\\S+ \\S+) (?P<id>\\w+) ends (?P<lock>\\w+)", "event": "rests"}]}}`)
	defer C.free(unsafe.Pointer(options))
	var wrong *C.char
	check := C.whorl_check_new(options, &wrong)
	if check == nil {
		return fmt.Errorf("options: %s", taken(wrong))
	}
	defer C.whorl_check_free(check)

	for _, line := range []struct{ file, text string }{
		{"a.jsonl", `{"event":"works","id":"a","lock":"job","time":"2026-01-01T00:00:10Z"}`},
		{"b.log", `2026-01-01 00:00:15 b begins job`},
		{"a.jsonl", `{"event":"rests","id":"a","lock":"job","time":"2026-01-01T00:00:20Z"}`},
		{"b.log", `2026-01-01 00:00:25 b ends job`},
	} {
		file, text := C.CString(line.file), C.CString(line.text)
		refused := C.whorl_check_add_line(check, file, text)
		C.free(unsafe.Pointer(file))
		C.free(unsafe.Pointer(text))
		if refused != nil {
			return fmt.Errorf("%s", taken(refused))
		}
	}

	var all verdict
	if err := json.Unmarshal([]byte(taken(C.whorl_check_verdict(check))), &all); err != nil {
		return err
	}
	found := all.Invariants["single_worker"]
	fmt.Printf("single_worker: %s: %s\n", found.Verdict, found.Text)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
