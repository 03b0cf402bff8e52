package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"surehook/internal/delivery/gate"
	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/review"
)

const (
	// activePage is how many endpoints are listed at once.
	activePage = 1000
	// reviewSpan is how far back the counts are read: the day that is judged, and
	// the hour of the clock that it began in.
	reviewSpan = 25 * time.Hour
)

// Review judges the endpoints that were active in the hour of the clock under
// way or in the one before, and does what follows. One that cannot be judged
// does not keep it from the others; the errors of all are returned. It may be
// repeated, and run beside itself: who is judged already is left as it is.
func (b *Breaker) Review(ctx context.Context) error {
	r := reviewRun{Breaker: b, now: b.Now()}
	looks, err := r.activeEndpoints(ctx)
	faults := each(len(looks), func(i int) error { return r.reviewEndpoint(ctx, looks[i]) })
	if n := r.skipped.Load(); n > 0 {
		faults = append(faults, fmt.Errorf("%d endpoints were not reviewed: %w", n, errNoTime))
	}
	err = errors.Join(append(faults, err)...)
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.Int(names.LogActive, len(looks)),
		slog.Int64(names.LogChanged, r.changed.Load()),
		slog.Int64(names.LogSkipped, r.skipped.Load()),
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.Any(names.LogError, err))
	}
	b.Log.LogAttrs(ctx, level, "endpoints.reviewed", attrs...)
	return err
}

// reviewRun is one review of all endpoints. It has one time, so that what it
// tells again, because it had to begin anew with an endpoint, is the same.
type reviewRun struct {
	*Breaker

	now              time.Time
	changed, skipped atomic.Int64
}

// activeEndpoints returns the endpoints to be judged, each once. With an error they may
// not be all.
func (r *reviewRun) activeEndpoints(ctx context.Context) ([]hook.CircuitCheck, error) {
	var looks []hook.CircuitCheck
	listed := make(map[hook.CircuitCheck]bool)
	for _, at := range []time.Time{r.now, r.now.Add(-time.Hour)} {
		var last hook.CircuitCheck
		for {
			page, err := r.Store.Active(ctx, at, last, activePage)
			if err != nil {
				return looks, fmt.Errorf("list active endpoints: %w", err)
			}
			for _, look := range page {
				if !listed[look] {
					listed[look] = true
					looks = append(looks, look)
				}
			}
			if len(page) == 0 {
				break
			}
			last = page[len(page)-1]
		}
	}
	if len(looks) == 0 {
		return nil, nil
	}
	// If time runs out it is not always for the same ones: each review begins elsewhere.
	begin := int(r.now.UnixMilli() % int64(len(looks)))
	return slices.Concat(looks[begin:], looks[:begin]), nil
}

// reviewEndpoint judges one endpoint, anew if it was changed meanwhile.
func (r *reviewRun) reviewEndpoint(ctx context.Context, look hook.CircuitCheck) (err error) {
	defer func() {
		// A panic over one endpoint must not take the others with it.
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("review endpoint %s: %w", look.Endpoint, err)
		}
	}()
	if deadline, ok := ctx.Deadline(); ok && deadline.Sub(r.Now()) < attendReserve {
		r.skipped.Add(1)
		return nil
	}
	for range attendTries {
		if err = r.judgeEndpoint(ctx, look); err == nil || hook.CodeOf(err) != hook.CodeConflict {
			break
		}
	}
	return err
}

// judgeEndpoint reads what the endpoint is judged by and carries out the verdict. What
// is decided is told first, then kept, then done: if the process dies between,
// the next review decides the same, for its facts are the same, and tells it
// under the same keys if it comes in time. The other way round nobody would be told.
//
// CodeConflict when somebody changed the endpoint or its record meanwhile.
func (r *reviewRun) judgeEndpoint(ctx context.Context, look hook.CircuitCheck) error {
	endpoint, err := r.Store.Endpoint(ctx, look.Tenant, look.Endpoint)
	if hook.CodeOf(err) == hook.CodeNotFound {
		return nil // deleted
	}
	if err != nil {
		return fmt.Errorf("read endpoint: %w", err)
	}
	record, err := r.Store.Circuit(ctx, look.Tenant, look.Endpoint)
	if err != nil {
		return fmt.Errorf("read circuit: %w", err)
	}
	hours, err := r.Store.Hours(ctx, look.Endpoint, r.now.Add(-reviewSpan))
	if err != nil {
		return fmt.Errorf("read hours: %w", err)
	}
	v := review.Judge(review.Facts{Endpoint: endpoint, Flags: record.Review, Hours: hours}, r.now)
	if v.Flags == record.Review && len(v.Notifications) == 0 && !v.Disable {
		return nil
	}
	if err := r.applyVerdict(ctx, v, endpoint, record); err != nil {
		return err
	}
	r.changed.Add(1)
	r.Log.LogAttrs(ctx, slog.LevelInfo, "endpoint.reviewed",
		slog.String(names.LogTenant, string(look.Tenant)),
		slog.String(names.LogEndpoint, string(look.Endpoint)),
		slog.Bool(names.LogSlow, v.Flags.Slow),
		slog.Bool(names.LogFragile, v.Flags.Fragile),
		slog.Int64(names.LogTimeout, v.Flags.Timeout.Milliseconds()),
		slog.Int(names.LogWarned, v.Flags.Warned),
		slog.Bool(names.LogDisabled, v.Disable),
		slog.Int(names.LogNotifications, len(v.Notifications)))
	return nil
}

func (r *reviewRun) applyVerdict(ctx context.Context, v review.Verdict, e hook.Endpoint, record gate.Record) error {
	for _, n := range v.Notifications {
		if err := r.Notifier.Notify(ctx, n); err != nil {
			return fmt.Errorf("tell %s: %w", n.Type, err)
		}
	}
	if v.Flags != record.Review {
		record.Review = v.Flags
		if err := r.Store.SaveCircuit(ctx, record); err != nil {
			return fmt.Errorf("save flags: %w", err)
		}
	}
	if !v.Disable {
		return nil
	}
	if err := r.Store.UpdateEndpoint(ctx, e.Disabled(hook.ReasonFailing, r.now)); err != nil {
		return fmt.Errorf("disable: %w", err)
	}
	return nil
}
