package world

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/internal/names"
)

// ErrThrottled is the error of a request that the table throttles, after the retries of the
// client.
var ErrThrottled error = &types.ProvisionedThroughputExceededException{}

// functionKey is the key of the function in its contexts.
type functionKey struct{}

// Context returns a context of the function under test: its calls are counted, may fail,
// and are where the function dies. Calls with the context of a test are the test's own.
func (w *World) Context() context.Context { return w.as(w.options.Function) }

// as returns a context of the function.
func (w *World) as(f Function) context.Context {
	return context.WithValue(w.T.Context(), functionKey{}, f)
}

// around is called around each request to the table.
func (w *World) around(ctx context.Context, c *table.Call, do func() error) error {
	name, id := requestOf(c)
	if functionOf(ctx) != 0 {
		w.turns.await(turnOf(name, c))
	}
	return w.do(ctx, name, id, c.Write, do)
}

// functionOf returns the function of the context; 0 for the test's own calls.
func functionOf(ctx context.Context) Function {
	f, _ := ctx.Value(functionKey{}).(Function)
	return f
}

// call makes a call of a port beside the table, about the endpoint and what else tells the call from
// the others.
func (w *World) call(ctx context.Context, name string, id hook.EndpointID, about string, effect bool, do func() error) error {
	if functionOf(ctx) != 0 {
		w.turns.await(name + " " + string(id) + " " + about)
	}
	return w.do(ctx, name, id, effect, do)
}

// do makes a call, as the faults allow. An effect is fatal for a function that is to die.
func (w *World) do(ctx context.Context, name string, id hook.EndpointID, effect bool, do func() error) error {
	f := functionOf(ctx)
	if f == 0 {
		return do()
	}
	if f != w.options.Function {
		w.Calls.count(f.String() + ": " + name)
		return do()
	}
	if err := w.Calls.fail(name, id); err != nil {
		return err
	}
	w.Calls.count(name)
	if !effect {
		return do()
	}
	return w.Crash.do(func() error {
		err := do()
		if w.Calls.loses(name) {
			return do()
		}
		return err
	})
}

// requestOf names the request, and the first endpoint whose partition it names. The name is
// "read", "list" or "write" with the kind of the first item: "write delivery", also for a
// transaction with an attempt. A batch is "read batch", and "read batch of delivery" if all
// items are of one kind. A list has the name of its index, or the state of its deliveries:
// "list due", "list parked".
func requestOf(c *table.Call) (name string, id hook.EndpointID) {
	for _, hash := range append([]string{c.Hash}, hashes(c.Keys)...) {
		if partition := strings.Split(hash, "#"); partition[0] == "endpoint" {
			id = hook.EndpointID(partition[1])
			break
		}
	}
	switch {
	case c.Operation == "Scan":
		return "scan", id
	case c.Index == names.IndexByState:
		return "list " + kind(c.Hash), id
	case c.Operation == "Query":
		return "list " + kind(c.Low), id
	case c.Write:
		return "write " + kindOf(c.Keys[0]), id
	case c.Operation == "GetItem":
		return "read " + kindOf(c.Keys[0]), id
	case slices.ContainsFunc(c.Keys, func(k table.Key) bool { return kindOf(k) != kindOf(c.Keys[0]) }):
		return "read batch", id
	}
	return "read batch of " + kindOf(c.Keys[0]), id
}

// kindOf returns the kind of an item.
func kindOf(k table.Key) string {
	if kind(k.Hash) == "shares" {
		return "shares"
	}
	return kind(k.Sort)
}

// kind returns what precedes the first "#".
func kind(key string) string {
	before, _, _ := strings.Cut(key, "#")
	return before
}

func hashes(keys []table.Key) (all []string) {
	for _, k := range keys {
		all = append(all, k.Hash)
	}
	return all
}
