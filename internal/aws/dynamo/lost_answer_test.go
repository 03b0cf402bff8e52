package dynamo_test

import (
	"context"
	"fmt"
	"testing"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

// writer returns the attribute and the name of the writer in a conditional write.
func writer(r request, slot string) string {
	if name, ok := r.body.at("Item", slot, "S").(string); ok {
		return name
	}
	name, _ := r.body.at("ExpressionAttributeValues", ":fw", "S").(string)
	return name
}

// The table writes, and the response is lost. The SDK repeats the request, and its condition
// fails because of its own write. This must not be reported as a conflict, even if others have
// written meanwhile. If the stored version names another writer, it is a conflict.
func TestStore_aLostAnswerIsNoConflict(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name string
		slot string // of the writer
		save func(ctx context.Context, s *dynamo.Store) error
	}{
		{name: "first circuit", slot: "w1", save: func(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(0)) }},
		{name: "later circuit", slot: "w5", save: func(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(4)) }},
		{name: "eighth circuit", slot: "w0", save: func(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(7)) }},
		{name: "job", slot: "w5", save: func(ctx context.Context, s *dynamo.Store) error { return s.SaveJob(ctx, job(4)) }},
		{name: "erasure", slot: "w5", save: func(ctx context.Context, s *dynamo.Store) error {
			e := begun()
			e.Version = 4
			return s.SaveErasure(ctx, e)
		}},
	} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, own: %t", tt.name, own), func(t *testing.T) {
				t.Parallel()

				w, s := newWire(t)
				first := ""
				w.reply = func(r request) answer {
					if first == "" {
						if first = writer(r, tt.slot); first == "" {
							t.Errorf("no writer in %s of %v", tt.slot, r.body)
						}
						return failure(500, "InternalServerError", "")
					}
					if again := writer(r, tt.slot); again != first {
						t.Errorf("the repetition is by %s; want %s", again, first)
					}
					stored := first
					if !own {
						stored = "another"
					}
					return failure(400, "ConditionalCheckFailedException", `,"Item":{"`+tt.slot+`":{"S":"`+stored+`"},"version":{"N":"9"}}`)
				}
				err := tt.save(t.Context(), s)
				if own && err != nil || !own && hook.CodeOf(err) != hook.CodeConflict {
					t.Errorf("save = %v; want a conflict: %t", err, !own)
				}
			})
		}
	}
}
