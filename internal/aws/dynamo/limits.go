package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/admission"
)

// limitsKept is how long limits are kept after the last reserved slot and the last lease. By then
// a record means the same as no record, except for the score of an endpoint that gets less than
// one attempt a day.
const limitsKept = 24 * time.Hour

// Limits reads one item.
func (s *Store) Limits(ctx context.Context, endpoint hook.EndpointID) (admission.Limits, error) {
	return readOr(ctx, s, limitsKey(endpoint), "limits", string(endpoint), admission.Limits{})
}

// ChangeLimits makes one conditional update, or none without a difference.
func (s *Store) ChangeLimits(ctx context.Context, endpoint hook.EndpointID, before, after admission.Limits) error {
	return s.changeLimits(ctx, limitsKey(endpoint), "change limits "+string(endpoint), before, after)
}

// Shares reads one item.
func (s *Store) Shares(ctx context.Context, tenant hook.TenantID) (admission.Limits, error) {
	return readOr(ctx, s, sharesKey(tenant), "shares", string(tenant), admission.Limits{})
}

// ChangeShares makes one conditional update, or none without a difference.
func (s *Store) ChangeShares(ctx context.Context, tenant hook.TenantID, before, after admission.Limits) error {
	return s.changeLimits(ctx, sharesKey(tenant), "change shares "+string(tenant), before, after)
}

// limitsUpdate builds the update of one change.
type limitsUpdate struct {
	set, remove, conditions []string
	names                   map[string]string
	values                  attributes
}

func (s *Store) changeLimits(ctx context.Context, k key, op string, before, after admission.Limits) error {
	delta := before.To(after)
	if delta.Empty() {
		return nil
	}
	if len(delta.Added) > 0 && len(delta.Added)-len(delta.Removed) > after.Most { // more leases than slots, even if no other lease is stored
		return fmt.Errorf("%s: %w", op, hook.Conflict("more leases than slots"))
	}
	u := limitsUpdate{names: make(map[string]string), values: make(attributes)}
	u.changeLeases(delta, before, after.Most)
	u.changeCounts(delta, before, after)
	if last := lastOf(after, delta); !last.IsZero() {
		u.assign("expires_at", ":expires", number(last.Add(limitsKept).Unix()))
	}
	guard := condition{expression: strings.Join(u.conditions, " AND "), names: u.names}
	return s.commit(ctx, op, s.update(k, setting(u.set, u.remove), guard, u.values))
}

// changeLeases adds the change of the leases. An update cannot add to a map that does
// not exist, so the first update writes the map.
func (u *limitsUpdate) changeLeases(delta admission.Delta, before admission.Limits, most int) {
	if before.Leases == nil && len(delta.Added) > 0 {
		u.assign("leases", ":leases", encode(delta.Added))
		u.conditions = append(u.conditions, "attribute_not_exists(leases)")
		return
	}
	u.eachLease(delta.Removed, func(path, n, key string) {
		u.remove = append(u.remove, path)
		u.asBefore(path, n, before.Leases[key])
	})
	u.eachLease(delta.Changed, func(path, n, key string) {
		u.assign(path, ":new"+n, encode(delta.Changed[key]))
		u.asBefore(path, n, before.Leases[key])
	})
	u.eachLease(delta.Added, func(path, n, key string) {
		u.assign(path, ":new"+n, encode(delta.Added[key]))
		u.conditions = append(u.conditions, "attribute_not_exists("+path+")")
	})
	if added := len(delta.Added); added > 0 {
		u.conditions = append(u.conditions, "size(leases) <= :room")
		u.values[":room"] = number(int64(most - added + len(delta.Removed)))
	}
}

// eachLease names the leases in the order of their keys, so that a change has one request.
func (u *limitsUpdate) eachLease(leases map[string]admission.Lease, f func(path, n, key string)) {
	for _, key := range slices.Sorted(maps.Keys(leases)) {
		n := strconv.Itoa(len(u.names))
		u.names["#l"+n] = key
		f("leases.#l"+n, n, key)
	}
}

func (u *limitsUpdate) asBefore(path, n string, lease admission.Lease) {
	u.conditions = append(u.conditions, path+" = :old"+n)
	u.values[":old"+n] = encode(lease)
}

// changeCounts adds the change of the rate slot, the score and the late attempts.
func (u *limitsUpdate) changeCounts(delta admission.Delta, before, after admission.Limits) {
	stored := encodeItem(after)
	assign := func(names ...string) {
		for _, name := range names {
			u.assign(name, ":"+name, cmp.Or(stored[name], number(0)))
		}
	}
	if delta.RateSlot {
		assign("rate_slot_ns", "rate")
		if before.RateSlot.IsZero() {
			u.conditions = append(u.conditions, "attribute_not_exists(rate_slot_ns)")
		} else {
			u.conditions = append(u.conditions, "rate_slot_ns = :last AND rate = :before")
			u.values[":last"], u.values[":before"] = number(before.RateSlot.UnixNano()), encode(before.Rate)
		}
	}
	if delta.Score {
		assign("score", "score_at", "slots", "narrowed_at")
	}
	if delta.Late {
		assign("late", "late_at")
	}
}

func (u *limitsUpdate) assign(path, name string, value types.AttributeValue) {
	u.set = append(u.set, path+" = "+name)
	u.values[name] = value
}

// lastOf returns the end of the last changed lease or reserved slot, or of the minute
// of late attempts; zero when the time of removal stays.
func lastOf(after admission.Limits, delta admission.Delta) time.Time {
	if len(delta.Added)+len(delta.Changed) == 0 && !delta.RateSlot && !delta.Late {
		return time.Time{}
	}
	ends := []time.Time{after.RateSlot, after.LateAt}
	for _, lease := range after.Leases {
		ends = append(ends, lease.Until)
	}
	return slices.MaxFunc(ends, time.Time.Compare)
}
