package ingest

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
)

// spend counts the valid posts against EventsPerSecond; past the limit all of them fail. It
// comes before event types are read, filters and schemas run, or anything is stored. It costs a
// write only if the tenant has the limit. Repeated posts count too, because they read and send
// as much as new ones.
func (a *Acceptor) spend(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits, posts []post, now time.Time) {
	valid := 0
	for _, p := range posts {
		if p.err == nil {
			valid++
		}
	}
	if l.EventsPerSecond == 0 || valid == 0 {
		return
	}
	a.count(ctx, tenant, posts, hook.NewSpend(hook.SpentEvents, valid, l.EventsPerSecond, time.Second, now), l.TooManyEvents)
}

// count counts against a limit; past it all valid posts fail.
func (a *Acceptor) count(ctx context.Context, tenant hook.TenantID, posts []post, s hook.Spend, refusal func(wait time.Duration) *hook.Error) {
	wait, err := a.Store.Spend(ctx, tenant, s)
	if err != nil {
		failValid(posts, fmt.Errorf("count events of tenant %s: %w", tenant, err))
	} else if wait > 0 {
		failValid(posts, refusal(wait))
	}
}

// TestsPerMinute is the limit of test events per tenant and minute. After a pause, as many are sent
// at once.
const TestsPerMinute = 10

// spendTest counts a valid test event against TestsPerMinute.
func (a *Acceptor) spendTest(ctx context.Context, tenant hook.TenantID, posts []post, now time.Time) {
	if !anyValid(posts) {
		return
	}
	a.count(ctx, tenant, posts, hook.NewSpend(hook.SpentTests, 1, TestsPerMinute, time.Minute, now), func(wait time.Duration) *hook.Error {
		return &hook.Error{Code: hook.CodeThrottled, Message: fmt.Sprintf("a tenant can send %d test events a minute", TestsPerMinute), RetryAfter: wait}
	})
}
