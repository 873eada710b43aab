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
	options := C.CString(`{"protocol": "fenced_lease", "clock_error": "10ms"}`)
	defer C.free(unsafe.Pointer(options))
	var wrong *C.char
	check := C.whorl_check_new(options, &wrong)
	if check == nil {
		return fmt.Errorf("options: %s", taken(wrong))
	}
	defer C.whorl_check_free(check)

	file := C.CString("test")
	defer C.free(unsafe.Pointer(file))
	for _, line := range []string{
		`{"event":"works","id":"a","lock":"job","time":"2026-01-01T00:00:10Z"}`,
		`{"event":"works","id":"b","lock":"job","time":"2026-01-01T00:00:15Z"}`,
		`{"event":"rests","id":"a","lock":"job","time":"2026-01-01T00:00:20Z"}`,
		`{"event":"rests","id":"b","lock":"job","time":"2026-01-01T00:00:25Z"}`,
	} {
		text := C.CString(line)
		refused := C.whorl_check_add_line(check, file, text)
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
