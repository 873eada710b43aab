// One process of some locks by the original spindle (v2), for `whorl replay --program`: a line of JSON on
// standard input says what to do, a line on standard output says what has happened
// (live/foreign/README.md). The logs of spindle go to standard error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/spanner"
	"github.com/flowerinthenight/spindle/v2"
)

type order struct {
	Do       string `json:"do"`
	Lock     string `json:"lock"`
	Reason   string `json:"reason"`
	ID       int    `json:"id"`
	Question string `json:"question"`
}

var output sync.Mutex

func say(event map[string]any) {
	line, err := json.Marshal(event)
	if err != nil {
		log.Fatal(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

func answer(id int, yes bool, token uint64) {
	event := map[string]any{"event": "answer", "id": id, "yes": yes}
	if yes {
		event["token"] = strconv.FormatUint(token, 10)
	}
	say(event)
}

// Opens the connection and the session before the run begins.
func connect(ctx context.Context) *spanner.Client {
	db, err := spanner.NewClient(ctx, os.Getenv("WHORL_DATABASE"))
	if err != nil {
		log.Fatal(err)
	}
	rows := db.Single().Query(ctx, spanner.NewStatement("SELECT 1"))
	defer rows.Stop()
	if _, err := rows.Next(); err != nil {
		log.Fatal(err)
	}
	return db
}

// Lock as the package spindle/v2/lock has it, which cannot be built itself: v2.2.0 of it imports
// spindle v1. It polls HasLock until the second round, and does not notice when the lock is lost.
func waitForLock(ctx context.Context, lock *spindle.Lock, id int) {
	for {
		yes, token := lock.HasLock()
		if yes && lock.Iterations() > 1 {
			answer(id, true, token)
			return
		}
		select {
		case <-ctx.Done():
			answer(id, false, 0)
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// The context of the participation, which ends at the deadline that the scenario gives it.
func participation() (context.Context, context.CancelFunc) {
	if ms, err := strconv.ParseInt(os.Getenv("WHORL_DEADLINE_MS"), 10, 64); err == nil {
		return context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	}
	return context.WithCancel(context.Background())
}

// The process's part in one lock.
type part struct {
	lock   *spindle.Lock
	ctx    context.Context // from the first order on
	cancel context.CancelFunc
}

func join(db *spanner.Client, name string, lease int64) *part {
	options := []spindle.Option{
		spindle.WithId(os.Getenv("WHORL_ID")),
		spindle.WithDuration(lease),
		// As spindle writes its log by itself, but not between the lines for whorl.
		spindle.WithLogger(log.New(os.Stderr, "[spindle/"+os.Getenv("WHORL_ID")+"] ", log.LstdFlags)),
		spindle.WithLeaderCallback(nil, func(_ any, state []byte) {
			if string(state) == "1" {
				say(map[string]any{"event": "leads", "lock": name})
			} else {
				say(map[string]any{"event": "leads_not", "lock": name})
			}
		}),
	}
	return &part{lock: spindle.New(db, os.Getenv("WHORL_TABLE"), name, options...)}
}

func (p *part) run() {
	if err := p.lock.Run(p.ctx); err != nil {
		log.Fatal(err)
	}
}

func (p *part) obey(order order) {
	if p.ctx == nil {
		p.ctx, p.cancel = participation()
	}
	switch {
	case order.Do == "start":
		p.run()
	case order.Do == "stop" && order.Reason != "deadline":
		p.cancel()
	case order.Do == "ask" && order.Question == "has_lock":
		go func() {
			yes, token := p.lock.HasLock()
			answer(order.ID, yes, token)
		}()
	case order.Do == "ask" && order.Question == "lock":
		p.run()
		go waitForLock(p.ctx, p.lock, order.ID)
	case order.Do == "ask" && order.Question == "unlock":
		p.cancel()
		answer(order.ID, true, 0)
	}
}

func main() {
	lease, err := strconv.ParseInt(os.Getenv("WHORL_LEASE_MS"), 10, 64)
	if err != nil {
		log.Fatalf("WHORL_LEASE_MS: %v (whorl replay --program starts this program)", err)
	}
	var names []string
	if err := json.Unmarshal([]byte(os.Getenv("WHORL_LOCKS")), &names); err != nil {
		log.Fatalf("WHORL_LOCKS: %v", err)
	}
	db := connect(context.Background())
	parts := map[string]*part{}
	for _, name := range names {
		parts[name] = join(db, name, lease)
	}
	say(map[string]any{"event": "ready"})

	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var order order
		if err := json.Unmarshal(orders.Bytes(), &order); err != nil {
			log.Fatal(err)
		}
		parts[order.Lock].obey(order)
	}
}
