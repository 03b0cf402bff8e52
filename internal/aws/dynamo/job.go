package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// maxJobs bounds a list of jobs.
const maxJobs = 100

type jobItem struct {
	key
	ID        hook.JobID          `dynamodbav:"id"`
	Tenant    hook.TenantID       `dynamodbav:"tenant"`
	Filter    filterItem          `dynamodbav:"filter"`
	Rate      float64             `dynamodbav:"rate"`
	State     string              `dynamodbav:"state"`
	By        hook.KeyID          `dynamodbav:"by,omitempty"`
	CreatedAt int64               `dynamodbav:"created_at"`
	UpdatedAt int64               `dynamodbav:"updated_at"`
	EndedAt   int64               `dynamodbav:"ended_at,omitempty"`
	ExpiresAt int64               `dynamodbav:"expires_at,omitempty"`
	Version   int64               `dynamodbav:"version"`
	Selected  int                 `dynamodbav:"selected,omitempty"`
	Enqueued  int                 `dynamodbav:"enqueued,omitempty"`
	Skipped   int                 `dynamodbav:"skipped,omitempty"`
	SkippedBy map[replay.Skip]int `dynamodbav:"skipped_by,omitempty"`
	Limit     int                 `dynamodbav:"limit,omitempty"`
	DiedSince int64               `dynamodbav:"died_since,omitempty"` // of the filter
	Endpoint  hook.EndpointID     `dynamodbav:"endpoint,omitempty"`
	Cursor    string              `dynamodbav:"cursor,omitempty"`
	Selects   bool                `dynamodbav:"selects,omitempty"`
	Pending   []string            `dynamodbav:"pending,omitempty"` // hook.DeliveryRefs
	NextAt    int64               `dynamodbav:"next_at,omitempty"`
	Next      string              `dynamodbav:"next,omitempty"`
	Previous  string              `dynamodbav:"previous,omitempty"`
}

type filterItem struct {
	Endpoint hook.EndpointID `dynamodbav:"endpoint,omitempty"`
	State    string          `dynamodbav:"state"`
	Types    []string        `dynamodbav:"types,omitempty"`
	From     int64           `dynamodbav:"from,omitempty"`
	To       int64           `dynamodbav:"to,omitempty"`
	Class    string          `dynamodbav:"class,omitempty"` // of replay.Cause; noAttempt for Cause.None
	Status   int             `dynamodbav:"status,omitempty"`
	AddTo    hook.EndpointID `dynamodbav:"add_to,omitempty"`
}

// discards is a prefix of the state of a job that discards. A build that does not know such jobs
// cannot read the state, and so never replays what the job would discard.
const discards = "discards "

// bounded is a prefix of the state of a job with a limit or a time of death, for the same reason:
// a build that does not know these would replay more.
const bounded = "bounded "

// noAttempt stands for Cause.None.
const noAttempt = "none"

func causeWord(c replay.Cause) string {
	if c.None {
		return noAttempt
	}
	return word(c.Class)
}

func parseCause(class string, status int) (replay.Cause, error) {
	if class == noAttempt {
		return replay.Cause{None: true}, nil
	}
	c, err := parse[hook.Class](class)
	return replay.Cause{Class: c, Status: status}, err
}

// toJobItem returns the next version of j.
func toJobItem(j replay.Job) jobItem {
	pending := make([]string, len(j.Pending))
	for i, ref := range j.Pending {
		text, _ := ref.MarshalText() // never fails
		pending[i] = string(text)
	}
	state := word(j.State)
	switch {
	case j.Discards:
		state = discards + state
	case j.Limit > 0 || !j.Filter.DiedSince.IsZero():
		state = bounded + state
	}
	return jobItem{
		key:    jobKey(j.Tenant, j.ID),
		ID:     j.ID,
		Tenant: j.Tenant,
		Filter: filterItem{
			Endpoint: j.Filter.Endpoint,
			State:    word(j.Filter.State),
			Types:    j.Filter.Types,
			From:     millis(j.Filter.From),
			To:       millis(j.Filter.To),
			Class:    causeWord(j.Filter.Cause),
			Status:   j.Filter.Cause.Status,
			AddTo:    j.Filter.AddTo,
		},
		Rate:      j.Rate,
		State:     state,
		By:        j.By,
		CreatedAt: millis(j.CreatedAt),
		UpdatedAt: millis(j.UpdatedAt),
		EndedAt:   millis(j.EndedAt),
		ExpiresAt: ttl(j.ExpiresAt),
		Version:   j.Version + 1,
		Selected:  j.Selected,
		Enqueued:  j.Enqueued,
		Skipped:   j.Skipped,
		SkippedBy: j.SkippedBy,
		Limit:     j.Limit,
		DiedSince: millis(j.Filter.DiedSince),
		Endpoint:  j.Endpoint,
		Cursor:    j.Cursor,
		Selects:   j.Selects,
		Pending:   pending,
		NextAt:    millis(j.NextAt),
		Next:      j.Next,
		Previous:  j.Previous,
	}
}

func fromJobItem(it jobItem) (replay.Job, error) {
	stateWord, discarding := strings.CutPrefix(strings.TrimPrefix(it.State, bounded), discards)
	state, err := parse[replay.JobState](stateWord)
	if err != nil {
		return replay.Job{}, err
	}
	selects, err := parse[hook.State](it.Filter.State)
	if err != nil {
		return replay.Job{}, err
	}
	cause, err := parseCause(it.Filter.Class, it.Filter.Status)
	if err != nil {
		return replay.Job{}, err
	}
	var pending []hook.DeliveryRef
	for _, text := range it.Pending {
		var ref hook.DeliveryRef
		if err := ref.UnmarshalText([]byte(text)); err != nil {
			return replay.Job{}, err
		}
		pending = append(pending, ref)
	}
	return replay.Job{
		ID:     it.ID,
		Tenant: it.Tenant,
		Filter: replay.Filter{
			Endpoint: it.Filter.Endpoint,
			State:    selects,
			Types:    it.Filter.Types,
			From:     fromMillis(it.Filter.From),
			To:       fromMillis(it.Filter.To),
			Cause:    cause,
			AddTo:    it.Filter.AddTo,

			DiedSince: fromMillis(it.DiedSince),
		},
		Rate:      it.Rate,
		Limit:     it.Limit,
		Discards:  discarding,
		State:     state,
		By:        it.By,
		CreatedAt: fromMillis(it.CreatedAt),
		UpdatedAt: fromMillis(it.UpdatedAt),
		EndedAt:   fromMillis(it.EndedAt),
		ExpiresAt: fromTTL(it.ExpiresAt),
		Version:   it.Version,
		Selected:  it.Selected,
		Enqueued:  it.Enqueued,
		Skipped:   it.Skipped,
		SkippedBy: it.SkippedBy,
		Endpoint:  it.Endpoint,
		Cursor:    it.Cursor,
		Selects:   it.Selects,
		Pending:   pending,
		NextAt:    fromMillis(it.NextAt),
		Chain:     replay.Chain{Next: it.Next, Previous: it.Previous},
	}, nil
}

// Job reads one item.
func (s *Store) Job(ctx context.Context, tenant hook.TenantID, id hook.JobID) (replay.Job, error) {
	var it jobItem
	if err := s.get(ctx, jobKey(tenant, id), &it, "replay", string(id)); err != nil {
		return replay.Job{}, err
	}
	j, err := fromJobItem(it)
	return j, translate(err, "read replay "+string(id))
}

// SaveJob makes one conditional write. The first and the last save of a job are
// transactions with the set of the tenant's open jobs.
func (s *Store) SaveJob(ctx context.Context, j replay.Job) error {
	op := "save replay " + string(j.ID)
	open := &types.Update{
		TableName:                 s.table,
		Key:                       openJobsKey(j.Tenant).attributes(),
		ExpressionAttributeValues: map[string]types.AttributeValue{":job": &types.AttributeValueMemberSS{Value: []string{string(j.ID)}}},
	}
	switch {
	case j.State != replay.JobRunning:
		open.UpdateExpression = aws.String("DELETE jobs :job")
	case j.Version == 0:
		open.UpdateExpression = aws.String("ADD jobs :job")
		open.ConditionExpression = aws.String("attribute_not_exists(jobs) OR size(jobs) < :most")
		open.ExpressionAttributeValues[":most"] = number(replay.MaxOpenJobs)
	default:
		return translate(s.saveNext(ctx, toJobItem(j), j.Version), op)
	}
	next, err := s.next(toJobItem(j), j.Version)
	if err != nil {
		return translate(err, op)
	}
	err = s.transact(ctx, next, types.TransactWriteItem{Update: open})
	if conditionFailed(err, 1) && !conditionFailed(err, 0) {
		return fmt.Errorf("%s: %w", op, replay.ErrOpenJobs())
	}
	return translate(err, op)
}

// Jobs makes one query. limit is cut to 1 to 100.
func (s *Store) Jobs(ctx context.Context, tenant hook.TenantID, before hook.JobID, limit int) ([]replay.Job, error) {
	op := "list replays of tenant " + string(tenant)
	query := &dynamodb.QueryInput{
		TableName:              s.table,
		ConsistentRead:         aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :sk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(tenantPartition(tenant)), ":sk": text(jobPrefix),
		},
		ScanIndexForward: aws.Bool(false),
		Limit:            aws.Int32(int32(min(max(limit, 1), maxJobs))),
	}
	if before != "" {
		query.ExclusiveStartKey = jobKey(tenant, before).attributes() // a start key without an item is valid
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, translate(err, op)
	}
	return readable(ctx, s, out.Items, fromJobItem), nil
}
