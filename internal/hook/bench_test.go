package hook_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

func BenchmarkTask(b *testing.B) {
	event := hook.NewEventID()
	task := hook.NewTask("acme", refOf(event, hook.NewEndpointID(), 1), 1)
	body, err := task.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := task.Encode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := hook.DecodeTask(body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
