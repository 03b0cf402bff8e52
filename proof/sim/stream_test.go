package sim_test

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory/table"
)

// The stream brings stored events and replays to the breaker: minutes late, twice, in any
// order. A batch whose process dies or fails comes again.

const (
	streamLate  = 10 * time.Minute
	streamAgain = 2 * time.Minute
)

// change is a change of the table in the stream.
type change struct {
	image []byte
	at    time.Time // of its arrival
}

// sawChange puts a stored event or a replay into the stream, as the filters of the
// deployed mapping do.
func (w *simulation) sawChange(k table.Key, after table.Item) {
	replayed := strings.HasPrefix(k.Sort, "delivery#") && after["replayed"] != nil
	if !w.sweeper || after == nil || k.Sort != "event" && !replayed {
		return
	}
	image, err := attributevalue.MarshalMapJSON(after)
	if err != nil {
		w.fail(checkSetup, "read the change of %s: %v", k, err)
		return
	}
	w.arrive(w.within(streamLate), change{image: image})
}

// arrive plans the arrival of the changes.
func (w *simulation) arrive(in time.Duration, changes ...change) {
	for i := range changes {
		changes[i].at = w.now.Add(in)
	}
	w.changes = append(w.changes, changes...)
	w.plan.add(w.now.Add(in), w.record)
}

// record gives all changes that have arrived to the breaker.
func (w *simulation) record() {
	var batch, later []change
	for _, c := range w.changes {
		if c.at.After(w.now) {
			later = append(later, c)
		} else {
			batch = append(batch, c)
		}
	}
	w.changes = later
	if len(batch) == 0 {
		return
	}
	w.rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	var begun []hook.DeliveryRef
	for _, c := range batch {
		refs, err := dynamo.Begun(c.image)
		if err != nil {
			w.fail(checkSetup, "read a change: %v", err)
		}
		begun = append(begun, refs...)
	}
	w.spawn("record", workTimeout, nil, func(p *process) {
		p.done = p.wiring().Breaker().Record(p.context(), begun) == nil
	}, func(p *process) {
		if !p.done || p.dead || w.chance(w.rates.duplicate) {
			w.count("batches of the stream repeated")
			w.arrive(w.within(streamAgain), batch...)
		}
	})
}

// purging reports whether an operator takes messages away: in one seed in eight, in which
// tasks get lost on their way as well. The checks of the final state show that all come back.
func (w *simulation) purging() bool { return w.seed%8 == 3 }

// drawLosses makes the seed one with losses.
func (w *simulation) drawLosses() {
	if w.purging() {
		w.sweeper, w.losing = true, true
	}
}

// planPurges plans the purges of queues.
func (w *simulation) planPurges() {
	for range 1 + w.rng.IntN(3) {
		w.plan.add(start.Add(w.within(suffering)), w.purge)
	}
}

// purge empties a queue, of those with messages. Messages received before stay: after a death
// between the record of a settled delivery and the work that follows, the message alone knows
// that a dead letter or a job's count is missing.
func (w *simulation) purge() {
	queues := hook.Queues()
	for _, i := range w.rng.Perm(len(queues)) {
		if _, some := w.queue.NextOf(queues[i]); some {
			w.note("an operator purges the queue %s", queues[i])
			w.count("queues purged")
			for _, m := range w.queue.Purge(queues[i]) {
				if before, replay := m.Task.Delivery.Predecessor(); replay && m.Task.ReplayRequest.Redrive {
					w.purged[before] = true // a purged letter
				}
			}
			return
		}
	}
}
