package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"surehook/internal/delivery/gate"
	"surehook/internal/emf"
	"surehook/internal/names"
)

const (
	// tickMost is how many endpoints one tick looks after; it comes every minute.
	tickMost = 200
	// gaugeMost is how many records are read to count open circuits. Who has more of
	// them needs no exact number.
	gaugeMost = 1000
)

// Tick looks after the endpoints that are due: those whose message was lost, or
// for which there was none. One that cannot be looked after does not keep it
// from the others; the errors of all are returned. It also writes the gauges: how
// many circuits are not closed, and how many dead letters there are.
func (b *Breaker) Tick(ctx context.Context) error {
	looks, err := b.Store.DueCircuits(ctx, b.Now(), tickMost)
	if err != nil {
		return fmt.Errorf("list circuits that are due: %w", err)
	}
	faults := each(len(looks), func(i int) error {
		look := looks[i]
		look.Wave = 0 // the index may be behind the record; whatever wave is next there is due
		return b.Reconcile(ctx, look)
	})
	gauges, err := b.readGauges(ctx)
	line := []slog.Attr{slog.Int(names.LogDue, len(looks)), slog.Int(names.LogFailed, len(faults))}
	b.Log.LogAttrs(ctx, slog.LevelInfo, "breaker.ticked", b.Metrics.Append(line, b.Now(), gauges...)...)
	return errors.Join(append(faults, err)...)
}

// readGauges measures what there is now; what cannot be measured is left out. An open
// circuit that the breaker forgot, because nobody waits for it, does not count.
func (b *Breaker) readGauges(ctx context.Context) (gauges []emf.Metric, err error) {
	records, err := b.Store.Attended(ctx, gaugeMost)
	if err != nil {
		err = fmt.Errorf("list circuits: %w", err)
	} else {
		gauges = append(gauges, emf.Gauge(names.MetricOpenCircuits, gate.CountOpen(records)))
	}
	letters, depthErr := b.DeadLetters.Depth(ctx)
	if depthErr != nil {
		return gauges, errors.Join(err, fmt.Errorf("measure dead letters: %w", depthErr))
	}
	return append(gauges, emf.Gauge(names.MetricOpenLetters, letters)), err
}
