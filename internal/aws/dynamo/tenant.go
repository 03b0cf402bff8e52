package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// TenantLimits reads the item of the tenant.
func (s *Store) TenantLimits(ctx context.Context, tenant hook.TenantID) (hook.TenantLimits, error) {
	it, err := s.tenant(ctx, tenant)
	return it.Limits, err
}

// SetTenantLimits makes one update without a condition. If it is repeated after a lost answer,
// only the version changes again.
func (s *Store) SetTenantLimits(ctx context.Context, tenant hook.TenantID, l hook.TenantLimits) error {
	set := s.changeTenant(tenant, ", limits = :limits", condition{}, attributes{":limits": encode(l)})
	return s.commit(ctx, "set limits of tenant "+string(tenant), set)
}

// maxFirstVersion leaves room for 2^62 changes. Two tenants with one name and a thousand
// changes each share a version with a probability of 2,000 / 2^62.
const maxFirstVersion = 1 << 62

// changeTenant returns the update of the tenant's item that sets the keys of the tenant in the list
// of tenants, the next version, and what more says. Every write of the tenant
// sets the same keys, so the index is written once per tenant.
//
// The first version of a tenant is random, because a process may still cache the endpoints of an
// erased tenant of the same name under a version of that tenant.
func (s *Store) changeTenant(tenant hook.TenantID, more string, c condition, values attributes) write {
	values[":list"], values[":tenant"] = text(tenantList), text(string(tenant))
	values[":first"], values[":one"] = number(rand.Int64N(maxFirstVersion)), number(1) //nolint:gosec // no secret
	const next = "SET state_pk = :list, state_sk = :tenant, version = if_not_exists(version, :first) + :one"
	return s.update(tenantKey(tenant), next+more, c, values)
}

// RegisterTenant makes one update without a condition.
func (s *Store) RegisterTenant(ctx context.Context, tenant hook.TenantID) error {
	register := s.changeTenant(tenant, "", condition{}, make(attributes))
	return s.commit(ctx, "register tenant "+string(tenant), register)
}

// Tenants makes one query and one batch read.
func (s *Store) Tenants(ctx context.Context, prefix string, after hook.TenantID, limit int) (page []tenant.Tenant, next hook.TenantID, err error) {
	const op = "list tenants"
	query := s.query(names.IndexByState, tenantList, "")
	if prefix != "" {
		query = s.query(names.IndexByState, tenantList, begins, prefix)
	}
	if after != "" { // a start key without an item is valid
		query.ExclusiveStartKey = tenantKey(after).attributes()
		query.ExclusiveStartKey[names.ByStateHash], query.ExclusiveStartKey[names.ByStateRange] = text(tenantList), text(string(after))
	}
	rows, more, err := s.rows(ctx, source{query: query}, min(max(limit, 1), maxBatchKeys))
	if err != nil {
		return nil, "", translate(err, op)
	}
	page, err = current(ctx, s, rows, func(t tenant.Tenant) string { return string(t.ID) })
	if more != nil { // also when the tenants of all rows are gone
		next = hook.TenantID(more.at)
	}
	return page, next, translate(err, op)
}

func fromTenantItem(it tenantItem) (tenant.Tenant, error) {
	return tenant.Tenant{ID: hook.TenantID(strings.TrimPrefix(it.PK, tenantPrefix)), Endpoints: int(it.Endpoints), Limits: it.Limits}, nil
}

// Spend makes one conditional update if the tenant's next-free time is past. Otherwise it makes a
// second update, because DynamoDB's updates cannot take the maximum of two values. A refusal
// takes one update: the failed condition returns the next-free time.
//
// After a lost answer the SDK repeats the update, and the events are counted twice.
func (s *Store) Spend(ctx context.Context, tenant hook.TenantID, spend hook.Spend) (time.Duration, error) {
	op := "spend events of tenant " + string(tenant)
	now, latest, cost := spend.Now.UnixNano(), spend.Latest.UnixNano(), spend.Cost.Nanoseconds()
	free, err := s.moveFree(ctx, op, rateKey(tenant, spend.Of), "SET free_ns = :next", "attribute_not_exists(free_ns) OR free_ns <= :now",
		attributes{":now": number(now), ":next": number(now + cost)})
	if err == nil && 0 < free && free <= latest {
		// The stored next-free time is after now, and never goes back.
		free, err = s.moveFree(ctx, op, rateKey(tenant, spend.Of), "SET free_ns = free_ns + :cost", "free_ns <= :latest",
			attributes{":latest": number(latest), ":cost": number(cost)})
	}
	if err != nil || free == 0 {
		return 0, err
	}
	return time.Duration(free - latest), nil
}

// moveFree updates the next-free time on a condition. When the condition fails,
// moveFree returns the stored next-free time in nanoseconds since 1970.
func (s *Store) moveFree(ctx context.Context, op string, at key, expression, guard string, values attributes) (free int64, err error) {
	var stored struct {
		Free int64 `stored:"free_ns"`
	}
	move := s.update(at, expression, condition{expression: guard}, values).asking(func(item attributes) error {
		if err := decodeItem(item, &stored); err != nil {
			return err
		}
		if stored.Free == 0 {
			return errors.New("the answer has no next-free time")
		}
		return nil
	})
	err = s.commit(ctx, op, move)
	return stored.Free, err
}
