// Porcupine on histories of a lock, beside `whorl check` (../check_against_porcupine.sh).
//
//	porcupine_locks write FILE OPERATIONS CLIENTS LOST_PER_MILLE
//	porcupine_locks check FILE SECONDS
//
// write: clients take a lock in turn, each with a greater token, hold it for a while, and ask all the time
// whether they have it; the file has what they did as whorl reads it, the changes of the row included.
// Of LOST of a thousand takeovers the taker never learns, and another client takes the lock after it.
//
// check: prints the number of operations, the verdict, and the seconds that Porcupine took, reading left out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	ms     = int64(time.Millisecond)
	origin = int64(1767225600) * 1000 * ms // 2026-01-01
	lock   = "job"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "porcupine_locks:", err)
		os.Exit(2)
	}
}

// --- the history ---------------------------------------------------------------------------------

type line = map[string]any

type history struct {
	out    *bufio.Writer
	random *rand.Rand
	token  int64 // of the holder: its commit timestamp
	row    line
}

func text(ns int64) string { return time.Unix(0, origin+ns).UTC().Format(time.RFC3339Nano) }

func (h *history) write(l line) {
	bytes, err := json.Marshal(l)
	fail(err)
	h.out.Write(bytes)
	h.out.WriteByte('\n')
}

// A takeover: the change of the row, and what the client knows of it.
func (h *history) take(client int, sent int64, lost bool) int64 {
	commit := sent + (1+h.random.Int63n(2))*ms
	received := commit + (1+h.random.Int63n(2))*ms
	id := fmt.Sprintf("p%d", client)
	row := line{"heartbeat": text(commit), "token": text(commit), "writer": id, "lease_ms": "1",
		"attempt": fmt.Sprintf("%s-%d", id, commit)}
	mod := line{"keys": line{"name": lock}, "new_values": row}
	kind := "INSERT"
	if h.row != nil {
		kind = "UPDATE"
		mod["old_values"] = h.row
	}
	h.write(line{"commit_timestamp": text(commit), "mod_type": kind, "mods": []line{mod}})
	h.row = row
	h.token = commit
	if lost {
		h.write(line{"event": "gives_up", "id": id, "lock": lock, "sent": text(sent),
			"time": text(received), "token": strconv.FormatInt(origin+commit, 10)})
		return received
	}
	h.write(line{"event": "call", "id": id, "lock": lock, "sent": text(sent), "commit": text(commit),
		"received": text(received)})
	h.write(line{"event": "leads", "id": id, "lock": lock, "sent": text(sent), "time": text(received),
		"token": strconv.FormatInt(origin+commit, 10)})
	return received
}

func write(path string, operations, clients, lost int) {
	file, err := os.Create(path)
	fail(err)
	h := &history{out: bufio.NewWriter(file), random: rand.New(rand.NewSource(1))}
	for client := 0; client < clients; client++ {
		h.write(line{"event": "process", "id": fmt.Sprintf("p%d", client), "offset": []string{"0s", "0s"}})
	}
	busy := make([]int64, clients) // until when each client is in an operation
	now, holder := int64(0), -1
	for done := 0; done < operations; {
		next := h.random.Intn(clients)
		if next == holder || busy[next] > now {
			now += ms
			continue
		}
		gone := h.random.Intn(1000) < lost
		received := h.take(next, now, gone)
		busy[next] = received
		done++
		holder = next
		if gone {
			holder = -1
			now = received
			continue
		}
		// The others ask until the next takeover, and overlap with each other.
		until := received + (4+h.random.Int63n(8))*ms
		for at := received; at < until && done < operations; at += ms {
			client := h.random.Intn(clients)
			if busy[client] > at {
				continue
			}
			answered := at + (1+h.random.Int63n(3))*ms
			if answered > until {
				answered = until
			}
			answer := line{"event": "answer", "id": fmt.Sprintf("p%d", client), "lock": lock,
				"has": client == holder, "asked": text(at), "time": text(answered)}
			if client == holder {
				answer["token"] = strconv.FormatInt(origin+h.token, 10)
			}
			h.write(answer)
			busy[client] = answered
			done++
		}
		now = until + ms
	}
	fail(h.out.Flush())
	fail(file.Close())
}

// --- Porcupine -----------------------------------------------------------------------------------

type kind int

const (
	taken   kind = iota // with that token
	perhaps             // likewise, or not at all
	yes                 // the client has the lock, with that token
	no                  // it has not
)

type input struct {
	kind   kind
	client int
}

type state struct {
	token  int64
	holder int
}

// A register of the lock's newest token: each takeover has a greater one, whatever the client before thinks.
var model = porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{holder: -1}} },
	Step: func(before, asked, answered any) []any {
		s, in, token := before.(state), asked.(input), answered.(int64)
		after := state{token: token, holder: in.client}
		switch in.kind {
		case taken:
			if token > s.token {
				return []any{after}
			}
		case perhaps:
			if token > s.token {
				return []any{s, after}
			}
			return []any{s}
		case yes:
			if s.holder == in.client && s.token == token {
				return []any{s}
			}
		case no:
			if s.holder != in.client {
				return []any{s}
			}
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}

func nanos(l line, name string) int64 {
	at, err := time.Parse(time.RFC3339Nano, l[name].(string))
	fail(err)
	return at.UnixNano()
}

func read(path string) []porcupine.Operation {
	file, err := os.Open(path)
	fail(err)
	defer file.Close()
	var operations []porcupine.Operation
	scanner := bufio.NewScanner(file)
	const forever = int64(1) << 62
	for scanner.Scan() {
		var l line
		fail(json.Unmarshal(scanner.Bytes(), &l))
		event, _ := l["event"].(string)
		if event != "leads" && event != "answer" && event != "gives_up" {
			continue
		}
		client, err := strconv.Atoi(l["id"].(string)[1:])
		fail(err)
		var token int64
		if t, ok := l["token"].(string); ok {
			token, err = strconv.ParseInt(t, 10, 64)
			fail(err)
		}
		op := porcupine.Operation{ClientId: client, Output: token, Return: nanos(l, "time")}
		switch event {
		case "leads":
			op.Input, op.Call = input{taken, client}, nanos(l, "sent")
		case "gives_up":
			op.Input, op.Call, op.Return = input{perhaps, client}, nanos(l, "sent"), forever
		case "answer":
			op.Input, op.Call = input{no, client}, nanos(l, "asked")
			if l["has"].(bool) {
				op.Input = input{yes, client}
			}
		}
		operations = append(operations, op)
	}
	fail(scanner.Err())
	return operations
}

func check(path string, seconds int) {
	operations := read(path)
	begin := time.Now()
	result := porcupine.CheckOperationsTimeout(model.ToModel(), operations, time.Duration(seconds)*time.Second)
	took := time.Since(begin)
	verdict := map[porcupine.CheckResult]string{porcupine.Ok: "holds", porcupine.Illegal: "violated",
		porcupine.Unknown: "unknown"}[result]
	fmt.Printf("%d %s %.3f\n", len(operations), verdict, took.Seconds())
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	fail(err)
	return n
}

func main() {
	switch {
	case len(os.Args) == 6 && os.Args[1] == "write":
		write(os.Args[2], number(os.Args[3]), number(os.Args[4]), number(os.Args[5]))
	case len(os.Args) == 4 && os.Args[1] == "check":
		check(os.Args[2], number(os.Args[3]))
	default:
		fail(fmt.Errorf("usage: write FILE OPERATIONS CLIENTS LOST_PER_MILLE | check FILE SECONDS"))
	}
}
