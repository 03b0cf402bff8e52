package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// peersFile is where the part "peers" keeps its chapter: the programs of others are on few machines, so the document shows
// the chapter as it was last measured.
const peersFile = "localstack/cmd/bench/peers.txt"

//go:embed peers.txt
var peersMeasured string

// peer is a running server for webhooks, which is measured from outside.
type peer struct {
	name      string
	own       []*process // its programs
	databases []*process // the databases and queues that it needs
	endpoint  func(ctx context.Context, tenant, url string) error
	post      func(ctx context.Context, tenant, payload string) error
}

// stop ends the programs, the databases last.
func (p *peer) stop() error {
	var errs []error
	for _, programs := range [][]*process{p.own, p.databases} {
		for _, program := range slices.Backward(programs) {
			errs = append(errs, program.stop())
		}
	}
	return errors.Join(errs...)
}

// cpu returns the processor time so far of the programs, and of the databases.
func (p *peer) cpu() (own, databases time.Duration, err error) {
	for i, programs := range [][]*process{p.own, p.databases} {
		for _, program := range programs {
			used, err := program.cpu()
			if err != nil {
				return 0, 0, err
			}
			if i == 0 {
				own += used
			} else {
				databases += used
			}
		}
	}
	return own, databases, nil
}

// The loads. A server is warm after toWarm posts.
const (
	peerEvents      = 1000
	peerConnections = 8
	peerPace        = 10 * time.Millisecond // between two posts: 100 a second
	peerRest        = 3 * time.Second       // after the last arrival, for what a server writes later
	hang            = 5 * time.Second       // of the slow endpoint
)

// figures is what one load showed.
type figures struct {
	own, databases time.Duration   // per 1,000 deliveries
	waits          []time.Duration // from the post to the arrival, sorted
}

func (f figures) percentile(p int) string {
	return fmt.Sprintf("%.0f ms", float64(f.waits[(len(f.waits)-1)*p/100].Microseconds())/1e3)
}

func (f figures) cells() []string {
	return []string{fmt.Sprintf("%.2f s", f.own.Seconds()), fmt.Sprintf("%.2f s", (f.own + f.databases).Seconds())}
}

// peers measures the servers whose programs the environment names, and Surehook beside them, and keeps the chapter.
func peers(ctx context.Context) (string, error) {
	folder, err := os.MkdirTemp("", "surehook-peers-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder)                      //nolint:errcheck // the system clears its temporary folder
	if err := os.Chmod(folder, 0o755); err != nil { // Postgres runs as another user
		return "", fmt.Errorf("open the folder: %w", err)
	}
	var single, slow [][]string
	for _, start := range []func(context.Context, string) (*peer, error){startOurs, startOutpost, startSvix} {
		p, err := start(ctx, folder)
		if errors.Is(err, errAbsent) {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		if err == nil {
			var rows [2][]string
			rows, err = p.measure(ctx)
			single, slow = append(single, rows[0]), append(slow, rows[1])
		}
		if p != nil {
			err = errors.Join(err, p.stop())
		}
		if err != nil {
			return "", err
		}
	}
	functions, err := functionsBeside(ctx)
	if err != nil {
		return "", err
	}
	about, err := machine(ctx)
	if err != nil {
		return "", err
	}
	text := peersHead + strings.Replace(about, "`make bench`", "`make bench/peers`", 1) + fmt.Sprintf(peersSingle, peerEvents, peerConnections) +
		table([]string{"server", "burst", "with databases", "100 a second", "with databases", "median", "p99"}, append(functions, single...)) +
		fmt.Sprintf(peersSlow, hang.Seconds()) + table([]string{"server", "median", "p99"}, slow)
	if err := os.WriteFile(filepath.FromSlash(peersFile), []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("keep the figures: %w", err)
	}
	return text, nil
}

// measure returns the rows of single posts, and of a slow endpoint beside another.
func (p *peer) measure(ctx context.Context) (rows [2][]string, err error) {
	fmt.Fprintln(os.Stderr, "measuring:", p.name)
	sink := newSink()
	defer sink.close()
	for tenant, path := range map[string]string{tenantOf(0): "/", tenantOf(1): "/slow"} {
		if err := p.endpoint(ctx, tenant, sink.url+path); err != nil {
			return rows, fmt.Errorf("%s: make an endpoint: %w", p.name, err)
		}
	}
	if _, err := p.load(ctx, sink, toWarm, 0, tenantOf(0)); err != nil {
		return rows, err
	}
	burst, err := p.load(ctx, sink, peerEvents, 0, tenantOf(0))
	if err != nil {
		return rows, err
	}
	paced, err := p.load(ctx, sink, peerEvents, peerPace, tenantOf(0))
	if err != nil {
		return rows, err
	}
	beside, err := p.load(ctx, sink, peerEvents, peerPace, tenantOf(0), tenantOf(1))
	if err != nil {
		return rows, err
	}
	single := slices.Concat([]string{p.name}, burst.cells(), paced.cells(), []string{paced.percentile(50), paced.percentile(99)})
	return [2][]string{single, {p.name, beside.percentile(50), beside.percentile(99)}}, nil
}

// load posts n events, by turns for the tenants, and waits for those of the first one. Without a pace, it posts on several
// connections as fast as they answer.
func (p *peer) load(ctx context.Context, sink *sink, n int, pace time.Duration, tenants ...string) (f figures, err error) {
	own, databases, err := p.cpu()
	if err != nil {
		return f, err
	}
	sink.expect(n / len(tenants))
	connections := peerConnections
	if pace > 0 {
		connections = 4 * peerConnections // so that a slow answer holds no other post up
	}
	began := time.Now()
	err = together(connections, n, func(i int) error {
		if pace > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * pace)))
		}
		tenant := tenants[i%len(tenants)]
		if tenant == tenants[0] {
			sink.sent(i)
		}
		return p.post(ctx, tenant, `{"n":"`+strconv.Itoa(i)+`","text":"`+payload[9:len(payload)-2]+`"}`)
	})
	if err != nil {
		return f, fmt.Errorf("%s: post: %w", p.name, err)
	}
	if f.waits, err = sink.wait(ctx); err != nil {
		return f, fmt.Errorf("%s: %w", p.name, err)
	}
	time.Sleep(peerRest)
	ownAfter, databasesAfter, err := p.cpu()
	if err != nil {
		return f, err
	}
	f.own, f.databases = (ownAfter-own)*1000/time.Duration(n), (databasesAfter-databases)*1000/time.Duration(n)
	return f, nil
}

// functionsBeside returns the rows of the deployed functions: single posts, and batches.
func functionsBeside(ctx context.Context) (rows [][]string, err error) {
	folder, err := os.MkdirTemp("", "surehook-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears its temporary folder
	d, err := deploy(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	for _, l := range []load{{1, 1}, {most, 1}} {
		if _, _, err := d.run(ctx, l, toWarm); err != nil {
			return nil, err
		}
		r, err := d.measure(ctx, l)
		if err != nil {
			return nil, err
		}
		name := "Surehook's functions, single posts"
		if l.batch > 1 {
			name = fmt.Sprintf("Surehook's functions, batches of %d", l.batch)
		}
		rows = append(rows, []string{name, fmt.Sprintf("%.2f s", r.cpu()), "", "", "", "", ""})
	}
	return rows, nil
}

const peersHead = "## Beside other servers\n\n"

const peersSingle = `
CPU time per 1,000 deliveries of 500 bytes, over loopback: %d single posts on %d connections, and at 100 a second. "With databases" adds Postgres, Redis and RabbitMQ; the functions use DynamoDB and SQS instead ([the bill](cost.md)), over TLS. Outpost delivers 100 at once here, by default one. Median and p99: from post to arrival, at 100 a second.

`

const peersSlow = `
A healthy endpoint beside one that answers after %.0f s, 50 events a second each:

`
