package dynamo

import (
	"context"
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
