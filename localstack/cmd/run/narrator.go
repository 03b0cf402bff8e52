package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// narrator prints the progress in numbered steps.
type narrator struct {
	out   io.Writer
	now   func() time.Time
	began time.Time
	steps int
}

func (n *narrator) line(format string, args ...any) {
	fmt.Fprintf(n.out, format+"\n", args...)
}

// step begins a numbered step.
func (n *narrator) step(format string, args ...any) {
	n.steps++
	n.line("")
	n.line("%d. %s", n.steps, fmt.Sprintf(format, args...))
}

// item prints one item of a step.
func (n *narrator) item(label, format string, args ...any) {
	n.line("   %-11s %s", label, fmt.Sprintf(format, args...))
}

// after prints an item with the time since began.
func (n *narrator) after(began, at time.Time, label, format string, args ...any) {
	n.item(label, "%-52s %6.2f s", fmt.Sprintf(format, args...), at.Sub(began).Seconds())
}

// indented returns a writer for items without a label.
func (n *narrator) indented() io.Writer { return indent{n} }

type indent struct{ n *narrator }

func (i indent) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		i.n.line("   %s", bytes.TrimRight(line, "\n"))
	}
	return len(p), nil
}

// staysUp prints instructions for the running stack; event is a delivered
// event.
func (n *narrator) staysUp(s *stack.Stack, r *receiver.Receiver, event string) {
	n.line("")
	n.line("The demonstration succeeded (%.0f s). The stack runs until Ctrl-C. Try it from another terminal:", n.now().Sub(n.began).Seconds())
	n.line("")
	n.line("   API=http://%s", s.Host)
	n.line("   KEY=%s", s.Key)
	n.line("")
	n.line("   # an endpoint: this receiver answers 200 on every other path")
	n.line(`   curl -X POST "$API/v1/tenants/acme/endpoints" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \`)
	n.line(`     -d '{"url": "%s/hooks", "event_types": ["order.*"], "uid": "orders"}'`, r.URL)
	n.line("")
	n.line("   # an event")
	n.line(`   curl -X POST "$API/v1/tenants/acme/events" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \`)
	n.line(`     -d '{"event_type": "order.paid", "payload": {"order": 4711}}'`)
	n.line("")
	n.line("   # the deliveries of the demonstration's last event")
	n.line(`   curl "$API/v1/tenants/demo/events/%s/deliveries" -H "Authorization: Bearer $KEY"`, event)
	n.line("")
	n.line("   docs/api.md has more examples for the same API and KEY. curl resolves *.localhost itself. Other clients may have")
	n.line("   to call %s with the Host header %s.", s.Address, s.Host)
	n.line("")
}
