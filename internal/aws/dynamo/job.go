package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

type jobItem struct {
	replay.Job

	State     string    `stored:"state"`
	DiedSince time.Time `stored:"died_since"` // of the filter
}

// discards is a prefix of the state of a job that discards. A build that does not know such jobs
// cannot read the state, and so never replays what the job would discard.
const discards = "discards "

// bounded is a prefix of the state of a job with a limit or a time of death, for the same reason:
// a build that does not know these would replay more.
const bounded = "bounded "

func toJobItem(j replay.Job) jobItem {
	state := j.State.String()
	switch {
	case j.Action == replay.ActionDiscard:
		state = discards + state
	case j.Limit > 0 || !j.Filter.DiedSince.IsZero():
		state = bounded + state
	}
	return jobItem{j, state, j.Filter.DiedSince}
}

func fromJobItem(it jobItem) (replay.Job, error) {
	j := it.Job
	j.Filter.DiedSince = it.DiedSince
	state, discarding := strings.CutPrefix(strings.TrimPrefix(it.State, bounded), discards)
	j.Action = replay.Action(discarding)
	var err error
	j.State, err = parse[replay.JobState](state)
	return j, err
}

// Job reads one item.
func (s *Store) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (replay.Job, error) {
	return read[replay.Job](ctx, s, jobKey(tenant, id), "replay", string(id))
}

// SaveJob makes one conditional write. The first and the last save of a job are
// transactions with the set of the tenant's open jobs.
func (s *Store) SaveJob(ctx context.Context, j replay.Job) error {
	k, op := jobKey(j.Tenant, j.ID), "save replay "+string(j.ID)
	change, room := "DELETE jobs :job", condition{}
	switch {
	case j.State == replay.JobRunning && j.Version == 0:
		change = "ADD jobs :job"
		room = where("attribute_not_exists(jobs) OR size(jobs) < :most", attributes{":most": number(replay.MaxOpenJobs)})
	case j.State == replay.JobRunning:
		return s.saveNext(ctx, op, k, j.Version, toJobItem(j))
	}
	open := s.update(openJobsKey(j.Tenant), change, room, attributes{":job": &types.AttributeValueMemberSS{Value: []string{string(j.ID)}}})
	return s.commit(ctx, op, s.next(k, j.Version, toJobItem(j)), open.orElse(replay.ErrOpenJobs()))
}

// Jobs makes one query. limit is cut to 1 to replay.MaxListed.
func (s *Store) Jobs(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]replay.Job, error) {
	query := s.sorted(tenantPartition(tenant), jobPrefix)
	query.ScanIndexForward = aws.Bool(false)
	if before != "" {
		query.ExclusiveStartKey = jobKey(tenant, before).attributes() // a start key without an item is valid
	}
	items, _, err := s.page(ctx, query, min(max(limit, 1), replay.MaxListed))
	return readable[replay.Job](ctx, s, items), translate(err, "list replays of tenant "+string(tenant))
}

const (
	// deliveriesPerItem is the number of deliveries of a job counted by one item. An
	// index has two digits and takes at most 3 bytes, so even three full sets, 900
	// bytes, fit into one write unit of 1 KB. The outcomes of 100,000 deliveries are
	// 1000 items: one or two requests of 1 MB.
	deliveriesPerItem = 100
	// outcomesKept is the time to keep outcomes after the last counted delivery:
	// longer than any job runs and is kept.
	outcomesKept = 6 * replay.KeepJobs
)

// outcomesItem holds one set of delivery indexes per outcome, each relative to
// the item's first index. Adding an index to a set twice counts once.
type outcomesItem struct {
	Delivered []int `stored:"delivered"`
	Dead      []int `stored:"dead"`
	Cancelled []int `stored:"cancelled"`
}

// outcomeSet returns the name of the set for the state of the delivery.
func outcomeSet(d hook.Delivery) (set string, err error) {
	if d.Job == "" || d.JobIndex < 0 {
		return "", &hook.Error{Code: hook.CodeInternal, Message: "the delivery belongs to no job"}
	}
	switch d.State {
	case hook.StateDelivered:
		return "delivered", nil
	case hook.StateDead:
		return "dead", nil
	case hook.StateCancelled, hook.StateDiscarded:
		return "cancelled", nil
	case hook.StateQueued, hook.StateRetrying, hook.StateParked:
	}
	return "", &hook.Error{Code: hook.CodeInternal, Message: "the delivery is not settled: " + d.State.String()}
}

// RecordOutcome adds the delivery to the set for its state, in one request. A
// repeated call changes nothing. A delivery recorded with two states is in two
// sets; JobOutcomes resolves the precedence.
func (s *Store) RecordOutcome(ctx context.Context, d hook.Delivery) error {
	op := "record outcome of delivery " + d.ID.String()
	set, err := outcomeSet(d)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	add := s.update(outcomesKey(d.Job, d.JobIndex), "SET expires_at = :expires, tenant = :tenant ADD "+set+" :index", condition{}, attributes{
		":index":   &types.AttributeValueMemberNS{Value: []string{strconv.Itoa(d.JobIndex % deliveriesPerItem)}},
		":expires": number(d.UpdatedAt.Add(outcomesKept).Unix()),
		":tenant":  text(string(d.Tenant)),
	})
	return s.commit(ctx, op, add)
}

// JobOutcomes reads all outcome items of the job. A delivery in several sets
// counts once: delivered takes precedence over dead, and dead over cancelled.
func (s *Store) JobOutcomes(ctx context.Context, id hook.JobID) (replay.Outcomes, error) {
	items, err := listRecords[outcomesItem](ctx, s, jobPartition(id), outcomesPrefix, "read outcomes of replay "+string(id))
	if err != nil {
		return replay.Outcomes{}, err
	}
	var sum replay.Outcomes
	for _, it := range items {
		counted := make(map[int]bool, deliveriesPerItem)
		for _, set := range []struct {
			indexes []int
			n       *int
		}{{it.Delivered, &sum.Delivered}, {it.Dead, &sum.Dead}, {it.Cancelled, &sum.Cancelled}} {
			for _, index := range set.indexes {
				if !counted[index] {
					counted[index] = true
					*set.n++
				}
			}
		}
	}
	return sum, nil
}
