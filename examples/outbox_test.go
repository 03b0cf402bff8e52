//go:build examples

package examples_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/stack"
)

// outboxLimit bounds the test of a program: a claim of 40 s ends once.
const outboxLimit = 4 * time.Minute

// outbox is a program of examples/outbox with its own database and tenant.
type outbox struct {
	tenant   string
	command  []string // of the program, before its arguments
	env      []string // with the addresses of the traps
	traps    traps
	database database
	out      *os.File // of the relays
}

// store is a kind of database, with the steps at which programs are killed.
type store struct {
	make   func(context.Context, *testing.T, *outbox) // makes the database of a program
	commit step                                       // of a new order, without before and after
	relay  []step
}

// database is what the test sees of the orders and of the outbox.
type database interface {
	orders(ctx context.Context, t *testing.T) []string
	waiting(ctx context.Context, t *testing.T) (problems []string) // one for each event of the outbox
}

// TestOutbox kills the programs of examples/outbox with SIGKILL before and after each step that another
// program sees. Every stored order then arrives, none that was rolled back does, and repetitions have
// the id of the event.
func TestOutbox(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), outboxLimit)
	t.Cleanup(cancel)
	api := startSurehook(ctx, t)
	folder := t.TempDir()
	build := exec.CommandContext(ctx, "go", "build", "-o", folder, "./postgres", "./dynamodb")
	build.Dir = "outbox"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
	sql, tables := postgres(ctx, t), dynamodb(ctx, t)
	programs := []struct {
		name    string
		command []string
		store   store
	}{
		{"postgres-go", []string{filepath.Join(folder, "postgres")}, sql},
		{"postgres-ts", []string{"node", "outbox/js/postgres.js"}, sql},
		{"dynamodb-go", []string{filepath.Join(folder, "dynamodb")}, tables},
		{"dynamodb-ts", []string{"node", "outbox/js/dynamodb.js"}, tables},
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()

			o := &outbox{tenant: p.name, command: p.command}
			p.store.make(ctx, t, o)
			o.env = append(o.env, "SUREHOOK_URL="+o.traps.http(t, api.Address, posts), "SUREHOOK_API_KEY="+api.Key)
			var err error
			if o.out, err = os.Create(filepath.Join(t.TempDir(), "relays")); err != nil {
				t.Fatal(err)
			}
			received := receive(ctx, t, api, o.tenant)

			want := []string{"placed", "placed-killed-late"}
			o.place(ctx, t, o.tenant, "placed", true)
			o.place(ctx, t, o.tenant, "placed", false) // rolled back with its event: there is such an order
			o.killed(ctx, t, "before "+p.store.commit, "order", o.tenant, "placed-killed-early")
			o.killed(ctx, t, "after "+p.store.commit, "order", o.tenant, "placed-killed-late")
			for i, step := range p.store.relay {
				order := fmt.Sprint("relay-killed-", i)
				want = append(want, order)
				o.place(ctx, t, o.tenant, order, true)
				o.killed(ctx, t, step, "relay")
			}
			// A refused event stays, with the problem, and holds up no other.
			o.place(ctx, t, "not a tenant", "1", true)
			for range 2 {
				o.start(ctx, t, "relay")
			}
			for i := range 20 {
				order := fmt.Sprint("two-relays-", i)
				want = append(want, order)
				o.place(ctx, t, o.tenant, order, true)
			}
			slices.Sort(want)
			if got := o.database.orders(ctx, t); !slices.Equal(got, append([]string{"1"}, want...)) {
				t.Errorf("the database has the orders %q; want %q", got, want)
			}

			await(ctx, t, func() (string, bool) {
				waiting, arrived := o.database.waiting(ctx, t), received.orders()
				return fmt.Sprintf("waiting %q, arrived %q", waiting, arrived), len(waiting) == 1 && strings.Contains(waiting[0], "tenant") && len(arrived) >= len(want)
			})
			if got := received.orders(); !slices.Equal(got, want) {
				t.Errorf("the receiver got the orders %q; want %q", got, want)
			}
			for order, ids := range received.events() {
				if len(ids) != 1 {
					t.Errorf("the order %s arrived with the event ids %q; want one", order, ids)
				}
			}
			var events struct {
				Data []struct {
					ID string `json:"id"`
				} `json:"data"`
			}
			if err := api.Call(ctx, http.MethodGet, "/v1/tenants/"+o.tenant+"/events?limit=100", nil, http.StatusOK, &events); err != nil {
				t.Fatal(err)
			}
			if len(events.Data) != len(want) {
				t.Errorf("Surehook accepted %d events; want %d", len(events.Data), len(want))
			}
			o.told(t, len(want))
		})
	}
}

// told checks what the relays printed: an event that was posted again got the id of the first post.
func (o *outbox) told(t *testing.T, events int) {
	t.Helper()

	text, err := os.ReadFile(o.out.Name())
	if err != nil {
		t.Fatal(err)
	}
	posts, ids := 0, make(map[string]string)
	for line := range strings.Lines(string(text)) {
		var key, id string
		if _, err := fmt.Sscanf(line, "posted %s %s", &key, &id); err != nil {
			continue
		}
		posts++
		if ids[key] != "" && ids[key] != id {
			t.Errorf("the key %s has the events %s and %s; want one", key, ids[key], id)
		}
		ids[key] = id
	}
	t.Logf("%d events, %d posts that a relay printed", events, posts)
}

func (o *outbox) cmd(ctx context.Context, t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()

	cmd := exec.CommandContext(ctx, o.command[0], append(slices.Clone(o.command[1:]), arguments...)...)
	cmd.Env = append(os.Environ(), o.env...)
	cmd.Stdout, cmd.Stderr = o.out, o.out
	return cmd
}

// place places an order, which must succeed or fail.
func (o *outbox) place(ctx context.Context, t *testing.T, tenant, order string, succeeds bool) {
	t.Helper()

	if err := o.cmd(ctx, t, "order", tenant, order).Run(); (err == nil) != succeeds {
		text, _ := os.ReadFile(o.out.Name())
		t.Fatalf("order %s = %v\n%s", order, err, text)
	}
}

// killed runs the program until it is killed at the step.
func (o *outbox) killed(ctx context.Context, t *testing.T, at step, arguments ...string) {
	t.Helper()

	cmd := o.cmd(ctx, t, arguments...)
	o.traps.set(at, cmd)
	err := cmd.Run()
	if !o.traps.sprung() {
		text, _ := os.ReadFile(o.out.Name())
		t.Fatalf("%s ended before the step %q: %v\n%s", arguments, at, err, text)
	}
}

// start runs the program until the end of the test.
func (o *outbox) start(ctx context.Context, t *testing.T, arguments ...string) {
	t.Helper()

	cmd := o.cmd(ctx, t, arguments...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // fails only when the program has ended
		_ = cmd.Wait()
	})
}

// await waits until a condition holds.
func await(ctx context.Context, t *testing.T, holds func() (state string, done bool)) {
	t.Helper()

	for {
		state, done := holds()
		if done {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%v: %s", ctx.Err(), state)
		}
	}
}

// receive makes an endpoint for the tenant's orders, whose requests are verified.
func receive(ctx context.Context, t *testing.T, api *stack.Client, tenant string) *receipts {
	t.Helper()

	r := newReceipts(t)
	endpoint, err := api.CreateEndpoint(ctx, tenant, map[string]any{"url": r.url, "event_types": []string{"order.*"}})
	if err != nil {
		t.Fatal(err)
	}
	r.secret <- endpoint.Secret
	return r
}

// order returns the order in the payload of an event.
func order(body []byte) (string, error) {
	var event struct {
		Data struct {
			Order string `json:"order"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &event)
	return event.Data.Order, err
}
