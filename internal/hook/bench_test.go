package hook_test

import (
	"testing"

	"surehook.example/surehook/internal/hook"
)

func BenchmarkToken(b *testing.B) {
	event, err := hook.NewEventID()
	if err != nil {
		b.Fatal(err)
	}
	token := hook.NewToken("acme", refOf(event, hook.NewEndpointID(), 1), 1)
	body, err := token.Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := token.Encode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := hook.DecodeToken(body); err != nil {
				b.Fatal(err)
			}
		}
	})
}
