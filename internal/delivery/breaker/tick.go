package breaker

import (
	"context"
	"errors"
	"log/slog"

	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
)

const (
	// maxTickEndpoints limits the endpoints that a tick reconciles itself. A schedule runs Tick
	// every minute.
	maxTickEndpoints = 200
	// maxDueCircuits limits the endpoints of one tick. Sending a message for each of the other
	// 9,800 takes 12 s of the invocation: 8 requests of 10 ms at a time.
	maxDueCircuits = 10_000
	// maxGaugeRecords limits the records read to count open circuits. Above 1,000
	// open circuits the gauge is a lower bound.
	maxGaugeRecords = 1000
)

// Tick reconciles the endpoints whose AttendAt is due, because their message was lost or there
// was none. An error for one endpoint does not stop the others; Tick returns all errors.
//
// It reconciles the first maxTickEndpoints endpoints itself, and enqueues a check for each of
// the others. If that message is lost, the endpoint is still due at the next tick. If a slow
// queue delivers a second message, its endpoint is no longer due. Tick also writes the gauges:
// the number of circuits that are not closed, and the number of dead letters.
func (b *Breaker) Tick(ctx context.Context) error {
	checks, err := b.Store.DueCircuits(ctx, b.Now(), maxDueCircuits)
	if err != nil {
		return err
	}
	for i := range checks {
		checks[i].Wave = 0 // the index may lag; whichever wave the record names is due
	}
	own := checks[:min(len(checks), maxTickEndpoints)]
	shared := checks[len(own):]
	faults := forEach(len(shared), func(i int) error {
		return b.CircuitQueue.Enqueue(ctx, shared[i], 0)
	})
	faults = append(faults, forEach(len(own), func(i int) error { return b.Reconcile(ctx, own[i]) })...)
	gauges, err := b.readGauges(ctx)
	line := []slog.Attr{slog.Int(names.LogDue, len(checks)), slog.Int(names.LogShared, len(shared)), slog.Int(names.LogFailed, len(faults))}
	b.Log.LogAttrs(ctx, slog.LevelInfo, "breaker.ticked", b.Metrics.Append(line, b.Now(), gauges...)...)
	return errors.Join(append(faults, err)...)
}

// readGauges returns those gauges that could be read. An open circuit of a forgotten endpoint
// does not count, because no delivery waits for it.
func (b *Breaker) readGauges(ctx context.Context) (gauges []emf.Metric, err error) {
	records, err := b.Store.Attended(ctx, maxGaugeRecords)
	if err == nil {
		gauges = append(gauges, emf.Gauge(names.MetricOpenCircuits, admission.CountOpen(records)))
	}
	letters, depthErr := b.DeadLetters.Depth(ctx)
	if depthErr == nil {
		gauges = append(gauges, emf.Gauge(names.MetricOpenLetters, letters))
	}
	return gauges, errors.Join(err, depthErr)
}
