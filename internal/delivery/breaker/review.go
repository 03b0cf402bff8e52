package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"surehook.example/surehook/internal/delivery/parallel"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/internal/rule/admission"
	"surehook.example/surehook/internal/rule/review"
	"surehook.example/surehook/internal/store"
)

const (
	// activePage is the number of endpoints per page of the list.
	activePage = 1000
	// reviewPage is the number of endpoints per message. Decoding the counts of an endpoint
	// takes at most 20 ms, so a batch of 10 pages takes 20 s of the 60 s of an invocation. A
	// page has at most 16 KB: 160 bytes per endpoint.
	reviewPage = 100
)

// Review judges the endpoints that were active in the current or the previous hour of the
// clock, and applies the verdicts. An error for one endpoint does not stop the others; Review
// returns all errors. Reviews may be repeated and may overlap: a second review of an endpoint
// changes nothing.
//
// The endpoints are split into pages of reviewPage: Review judges the first page itself, and
// enqueues the others for ReviewPage. Endpoints missed because of a crash or an error are
// covered by the next review.
func (b *Breaker) Review(ctx context.Context) error {
	r := reviewRun{Breaker: b, now: b.Now()}
	checks, err := r.activeEndpoints(ctx)
	own := checks[:min(len(checks), reviewPage)]
	pages := slices.Collect(slices.Chunk(checks[len(own):], reviewPage))
	faults := forEach(len(pages), func(i int) error {
		return b.CircuitQueue.EnqueueReview(ctx, hook.ReviewPage{At: r.now, Endpoints: pages[i]})
	})
	return r.reviewEndpoints(ctx, own, len(checks)-len(own), append(faults, err))
}

// ReviewPage judges the endpoints of one page as of the time of the review, so that repeated
// notifications have the same keys. Repeated and concurrent calls change nothing. A page older
// than review.Every is dropped, because the next review covers its endpoints: so a page that
// keeps failing does not come back forever.
func (b *Breaker) ReviewPage(ctx context.Context, page hook.ReviewPage) error {
	r := reviewRun{Breaker: b, now: page.At}
	if late := b.Now().Sub(page.At); late >= review.Every {
		b.Log.LogAttrs(ctx, slog.LevelWarn, "review_page.dropped",
			slog.Int(names.LogSkipped, len(page.Endpoints)), slog.Int64(names.LogDuration, late.Milliseconds()))
		return nil
	}
	return r.reviewEndpoints(ctx, page.Endpoints, 0, nil)
}

// reviewEndpoints judges the endpoints, and logs the result. shared is the number of endpoints
// left to other invocations.
func (r *reviewRun) reviewEndpoints(ctx context.Context, checks []hook.CircuitCheck, shared int, faults []error) error {
	faults = append(faults, forEach(len(checks), func(i int) error { return r.reviewEndpoint(ctx, checks[i]) })...)
	if n := r.skipped.Load(); n > 0 {
		faults = append(faults, fmt.Errorf("%d endpoints were not reviewed: %w", n, errNoTime))
	}
	err := errors.Join(faults...)
	settle.LogRun(ctx, r.Log, "endpoints.reviewed", err,
		slog.Int(names.LogActive, len(checks)),
		slog.Int(names.LogShared, shared),
		slog.Int64(names.LogChanged, r.changed.Load()),
		slog.Int64(names.LogSkipped, r.skipped.Load()))
	return err
}

// reviewRun is a review of all endpoints, or of one page. It has a single time, so that the
// notifications stay the same if a conflict repeats the review of an endpoint.
type reviewRun struct {
	*Breaker

	now              time.Time
	changed, skipped atomic.Int64
}

// activeEndpoints returns the endpoints to judge, each once. With an error the list may be
// incomplete.
func (r *reviewRun) activeEndpoints(ctx context.Context) ([]hook.CircuitCheck, error) {
	var checks []hook.CircuitCheck
	listed := make(map[hook.CircuitCheck]bool)
	for _, at := range []time.Time{r.now, r.now.Add(-time.Hour)} {
		var last hook.CircuitCheck
		for {
			page, err := r.Store.Active(ctx, at, last, activePage)
			if err != nil {
				return checks, err
			}
			for _, check := range page {
				if !listed[check] {
					listed[check] = true
					checks = append(checks, check)
				}
			}
			if len(page) == 0 {
				break
			}
			last = page[len(page)-1]
		}
	}
	if len(checks) == 0 {
		return nil, nil
	}
	// Each review begins with another endpoint, so that a lack of time does not always skip the
	// same ones.
	begin := int(r.now.UnixMilli() % int64(len(checks)))
	return slices.Concat(checks[begin:], checks[:begin]), nil
}

// reviewEndpoint judges one endpoint and applies the verdict: it notifies first, then disables, and
// saves the flags last. After a crash before the disabling, the next review reads the same facts,
// reaches the same verdict and repeats the notifications, with the same keys if it is in the same
// quarter of an hour. After a crash before the flags are saved, the next review finds a disabled
// endpoint and saves them. Flags saved first could lose the warning, without which the endpoint must
// not be disabled.
func (r *reviewRun) reviewEndpoint(ctx context.Context, check hook.CircuitCheck) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("review endpoint %s: %w", check.Endpoint, err)
		}
	}()
	defer parallel.Recover(&err)
	if !r.hasTime(ctx, reserve) {
		r.skipped.Add(1)
		return nil
	}
	var v review.Verdict
	var s survey // the same after a conflict
	before, _, err := r.circuits().Update(ctx, check, func(record admission.Record) (next admission.Record, write bool, err error) {
		next = record
		if v, err = r.judge(ctx, check, record, &s); err != nil {
			return record, false, err
		}
		if next.Review = v.Flags; s.done {
			next.Tally = s.tally
		}
		return next, next != record, nil
	})
	if err != nil || v.Flags == before.Review && len(v.Notifications) == 0 && !v.Disable {
		return err
	}
	r.changed.Add(1)
	r.Log.LogAttrs(ctx, slog.LevelInfo, "endpoint.reviewed",
		slog.String(names.LogTenant, string(check.Tenant)),
		slog.String(names.LogEndpoint, string(check.Endpoint)),
		slog.Bool(names.LogSlow, v.Flags.Slow),
		slog.Bool(names.LogFragile, v.Flags.Fragile),
		slog.Int64(names.LogTimeout, v.Flags.Timeout.Milliseconds()),
		slog.Int(names.LogWarned, v.Flags.Warned),
		slog.Bool(names.LogDisabled, v.Disable),
		slog.Int(names.LogNotifications, len(v.Notifications)))
	return nil
}

// judge reads the facts about the endpoint, and applies the verdict but for the flags. It looks at the
// deliveries only once.
func (r *reviewRun) judge(ctx context.Context, check hook.CircuitCheck, record admission.Record, s *survey) (review.Verdict, error) {
	unchanged := review.Verdict{Flags: record.Review}
	endpoint, err := r.Store.Endpoint(ctx, check.Tenant, check.Endpoint)
	if err != nil {
		if hook.CodeOf(err) == hook.CodeNotFound { // deleted
			err = nil
		}
		return unchanged, err
	}
	hours, err := r.Store.Hours(ctx, check.Endpoint, r.now.Add(-review.Span))
	if err != nil {
		return unchanged, err
	}
	if err := r.survey(ctx, s, endpoint, record, hours); err != nil {
		return unchanged, err
	}
	forecast, err := r.forecast(ctx, endpoint, record, hours, s)
	if err != nil {
		return unchanged, err
	}
	v := review.Judge(review.Facts{Endpoint: endpoint, Flags: record.Review, Circuit: record.Circuit, Backlog: forecast, Hours: hours}, r.now)
	var faults []error
	for _, n := range v.Notifications {
		faults = append(faults, r.Notifier.Notify(ctx, n))
	}
	if err := errors.Join(faults...); err != nil || !v.Disable {
		return v, err // without the flags, the next review repeats the verdict
	}
	after := endpoint.Disabled(hook.ReasonFailing, r.now)
	err = r.Store.DisableEndpoint(ctx, after, hook.AuditDisabling(endpoint, after))
	if err != nil && hook.CodeOf(err) == hook.CodeConflict {
		err = store.ErrAgain // the owner has changed the endpoint
	}
	return v, err
}
