package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// deliveryItem omits the id, which is part of the key: the item of a delivery that
// succeeds at once must fit into one write unit of 1 KB.
//
// EndpointSK lists the delivery in the index by_endpoint. The first generation of a
// delivered delivery has no row there, because its key is its position in the list; a
// queued delivery has none, because no list of an endpoint shows it.
// StatePK and StateSK list a retrying or queued delivery by the time of
// hook.Delivery.OverdueFrom.
type deliveryItem struct {
	key
	EndpointSK    string        `dynamodbav:"endpoint_sk,omitempty"` // names.ByEndpointRange
	StatePK       string        `dynamodbav:"state_pk,omitempty"`    // names.ByStateHash
	StateSK       string        `dynamodbav:"state_sk,omitempty"`    // names.ByStateRange
	Tenant        hook.TenantID `dynamodbav:"tenant"`
	EventType     string        `dynamodbav:"type"`
	State         string        `dynamodbav:"state"`
	Reason        hook.Reason   `dynamodbav:"reason,omitempty"`
	Attempts      int           `dynamodbav:"attempts,omitempty"`
	Stale         int           `dynamodbav:"stale,omitempty"`
	Version       int64         `dynamodbav:"version"`
	Token         string        `dynamodbav:"token,omitempty"`
	Parks         int           `dynamodbav:"parks,omitempty"`
	CreatedAt     int64         `dynamodbav:"created_at"`
	UpdatedAt     int64         `dynamodbav:"updated_at"`
	NextAttemptAt int64         `dynamodbav:"next_at,omitempty"`
	SweptAt       int64         `dynamodbav:"swept_at,omitempty"`
	ExpiresAt     int64         `dynamodbav:"expires_at,omitempty"`
	Last          *outcomeItem  `dynamodbav:"last,omitempty"`
	Erased        bool          `dynamodbav:"erased,omitempty"`
	Replayed      *replayedItem `dynamodbav:"replayed,omitempty"`
	Job           hook.JobID    `dynamodbav:"job,omitempty"`
	JobIndex      int           `dynamodbav:"job_index,omitempty"`
	By            hook.KeyID    `dynamodbav:"by,omitempty"`
	Note          string        `dynamodbav:"note,omitempty"`
}

// toDeliveryItem returns the next version of d.
func toDeliveryItem(d hook.Delivery) deliveryItem {
	it := deliveryItem{
		key:           deliveryKey(d.Ref()),
		Tenant:        d.Tenant,
		EventType:     d.EventType,
		State:         word(d.State),
		Reason:        d.Reason,
		Attempts:      d.Attempts,
		Stale:         d.Stale,
		Version:       d.Version + 1,
		Token:         d.Token,
		Parks:         d.Parks,
		CreatedAt:     millis(d.CreatedAt),
		UpdatedAt:     millis(d.UpdatedAt),
		NextAttemptAt: millis(d.NextAttemptAt),
		SweptAt:       millis(d.SweptAt),
		ExpiresAt:     ttl(d.ExpiresAt),
		Last:          toOutcomeItem(d.Last),
		Erased:        d.Erased,
		Replayed:      toReplayedItem(d.Replayed),
		Job:           d.Job,
		JobIndex:      d.JobIndex,
		By:            d.By,
		Note:          d.Note,
	}
	if d.State != hook.StateQueued && (d.State != hook.StateDelivered || millis(d.CreatedAt) != d.AcceptedAt) {
		it.EndpointSK = indexPrefix(d.State) + position(d.CreatedAt, d.ID)
	}
	if list, shards := dueListOf(d.State); shards > 0 {
		it.StatePK, it.StateSK = shard(list, hook.ShardOf(d.ID.Event, shards)), dueRange(d)
	}
	return it
}

func fromDeliveryItem(it deliveryItem) (hook.Delivery, error) {
	ref, err := refOf(it.key)
	if err != nil {
		return hook.Delivery{}, err
	}
	state, err := parse[hook.State](it.State)
	if err != nil {
		return hook.Delivery{}, err
	}
	last, err := fromOutcomeItem(it.Last)
	if err != nil {
		return hook.Delivery{}, err
	}
	return hook.Delivery{
		Tenant:        it.Tenant,
		EventType:     it.EventType,
		State:         state,
		Reason:        it.Reason,
		Attempts:      it.Attempts,
		Stale:         it.Stale,
		Version:       it.Version,
		Token:         it.Token,
		Parks:         it.Parks,
		CreatedAt:     fromMillis(it.CreatedAt),
		UpdatedAt:     fromMillis(it.UpdatedAt),
		NextAttemptAt: fromMillis(it.NextAttemptAt),
		SweptAt:       fromMillis(it.SweptAt),
		ExpiresAt:     fromTTL(it.ExpiresAt),
		Last:          last,
		Erased:        it.Erased,
		Replayed:      fromReplayedItem(it.Replayed),
		Job:           it.Job,
		JobIndex:      it.JobIndex,
		By:            it.By,
		Note:          it.Note,
	}.At(ref), nil
}

type outcomeItem struct {
	Class      string            `dynamodbav:"class"`
	Status     int               `dynamodbav:"status,omitempty"`
	Error      string            `dynamodbav:"error,omitempty"`
	URL        string            `dynamodbav:"url,omitempty"`
	Body       []byte            `dynamodbav:"body,omitempty"`
	Encoding   string            `dynamodbav:"encoding,omitempty"` // of the body
	Headers    map[string]string `dynamodbav:"headers,omitempty"`
	Sent       map[string]string `dynamodbav:"sent,omitempty"`
	Region     string            `dynamodbav:"region,omitempty"`
	Duration   time.Duration     `dynamodbav:"ns,omitempty"`
	Phases     *phasesItem       `dynamodbav:"phases,omitempty"`
	RetryAfter time.Duration     `dynamodbav:"retry_after_ns,omitempty"`
	Stale      bool              `dynamodbav:"stale,omitempty"`
	Shape      string            `dynamodbav:"shape,omitempty"` // without: raw
	Batch      *batchItem        `dynamodbav:"batch,omitempty"`
}

// phasesItem holds nanoseconds.
type phasesItem struct {
	DNS       time.Duration `dynamodbav:"dns,omitempty"`
	Connect   time.Duration `dynamodbav:"connect,omitempty"`
	TLS       time.Duration `dynamodbav:"tls,omitempty"`
	FirstByte time.Duration `dynamodbav:"first_byte,omitempty"`
}

// toPhasesItem returns nil without a phase.
func toPhasesItem(p hook.Phases) *phasesItem {
	if p == (hook.Phases{}) {
		return nil
	}
	return new(phasesItem(p))
}

func fromPhasesItem(it *phasesItem) hook.Phases {
	if it == nil {
		return hook.Phases{}
	}
	return hook.Phases(*it)
}

// toOutcomeItem returns nil without an attempt.
func toOutcomeItem(o hook.Outcome) *outcomeItem {
	if o.Class == 0 {
		return nil
	}
	return &outcomeItem{
		Class:      word(o.Class),
		Status:     o.Status,
		Error:      o.Error,
		URL:        o.URL,
		Body:       o.Body,
		Headers:    o.Headers,
		Sent:       o.Sent,
		Region:     o.Region,
		Duration:   o.Duration,
		Phases:     toPhasesItem(o.Phases),
		RetryAfter: o.RetryAfter,
		Stale:      o.Stale,
		Shape:      o.Shape,
		Batch:      toBatchItem(o.Batch),
	}
}

func fromOutcomeItem(it *outcomeItem) (hook.Outcome, error) {
	if it == nil {
		return hook.Outcome{}, nil
	}
	class, err := parse[hook.Class](it.Class)
	if err != nil {
		return hook.Outcome{}, err
	}
	batch, err := fromBatchItem(it.Batch)
	if err != nil {
		return hook.Outcome{}, err
	}
	return hook.Outcome{
		Class:      class,
		Status:     it.Status,
		Error:      it.Error,
		URL:        it.URL,
		Body:       it.Body,
		Headers:    it.Headers,
		Sent:       it.Sent,
		Region:     it.Region,
		Duration:   it.Duration,
		Phases:     fromPhasesItem(it.Phases),
		RetryAfter: it.RetryAfter,
		Stale:      it.Stale,
		Shape:      it.Shape,
		Batch:      batch,
	}, nil
}

type replayedItem struct {
	Generation int        `dynamodbav:"generation"`
	At         int64      `dynamodbav:"at"`
	By         hook.KeyID `dynamodbav:"by,omitempty"`
	Job        hook.JobID `dynamodbav:"job,omitempty"`
	JobIndex   int        `dynamodbav:"job_index,omitempty"`
	Force      bool       `dynamodbav:"force,omitempty"`
	Redrive    bool       `dynamodbav:"redrive,omitempty"`
}

// toReplayedItem returns nil without a replay.
func toReplayedItem(r hook.Replayed) *replayedItem {
	if r.Generation == 0 {
		return nil
	}
	return &replayedItem{
		Generation: r.Generation, At: millis(r.At), By: r.By, Job: r.Job, JobIndex: r.JobIndex, Force: r.Force, Redrive: r.Redrive,
	}
}

func fromReplayedItem(it *replayedItem) hook.Replayed {
	if it == nil {
		return hook.Replayed{}
	}
	return hook.Replayed{
		ReplayRequest: hook.ReplayRequest{By: it.By, Job: it.Job, JobIndex: it.JobIndex, Force: it.Force, Redrive: it.Redrive},
		Generation:    it.Generation,
		At:            fromMillis(it.At),
	}
}

// Delivery reads one item.
func (s *Store) Delivery(ctx context.Context, ref hook.DeliveryRef) (hook.Delivery, error) {
	var it deliveryItem
	if err := s.get(ctx, deliveryKey(ref), &it, "delivery", ref.String()); err != nil {
		return hook.Delivery{}, err
	}
	d, err := fromDeliveryItem(it)
	return d, translate(err, "read delivery "+ref.String())
}

// Deliveries makes one batch read per 100 targets for the first generations, and
// further batch reads for each next generation: the record of a replayed delivery
// names the next.
func (s *Store) Deliveries(ctx context.Context, e hook.Event) ([]hook.Delivery, error) {
	refs := make([]hook.DeliveryRef, len(e.Targets))
	for i, target := range e.Targets {
		refs[i] = hook.QueuedDelivery(e, target).Ref()
	}
	var all []hook.Delivery
	for len(refs) > 0 {
		found, err := s.DeliveriesByRef(ctx, refs)
		if err != nil {
			return nil, fmt.Errorf("list deliveries of event %s: %w", e.ID, err)
		}
		all = append(all, found...)
		var next []hook.DeliveryRef
		for _, d := range found {
			if d.Replayed.Generation != 0 {
				next = append(next, d.Successor())
			}
		}
		refs = next
	}
	slices.SortFunc(all, func(a, b hook.Delivery) int {
		return cmp.Or(cmp.Compare(a.ID.Endpoint, b.ID.Endpoint), cmp.Compare(a.ID.Generation, b.ID.Generation))
	})
	return all, nil
}

// DeliveriesByRef makes one batch read per 100 distinct refs. For a record that this build cannot
// read, the state and the version are 0, so that no write replaces it.
func (s *Store) DeliveriesByRef(ctx context.Context, refs []hook.DeliveryRef) ([]hook.Delivery, error) {
	op := fmt.Sprintf("read %d deliveries", len(refs))
	keys := make([]key, len(refs))
	for i, ref := range refs {
		keys[i] = deliveryKey(ref)
	}
	items, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, translate(err, op)
	}
	found := make([]hook.Delivery, 0, len(items))
	for _, item := range items {
		d, err := decode(item, fromDeliveryItem)
		if err != nil {
			ref, refErr := refOf(s.unreadable(ctx, item, err))
			if refErr != nil {
				return nil, translate(refErr, op)
			}
			d = hook.Delivery{}.At(ref)
		}
		found = append(found, d)
	}
	return found, nil
}

// Unrecorded makes one batch read per 100 distinct refs, eventually consistent, at half the price
// of a consistent read.
func (s *Store) Unrecorded(ctx context.Context, refs []hook.DeliveryRef) ([]hook.DeliveryRef, error) {
	op := fmt.Sprintf("look for %d deliveries", len(refs))
	keys := make([]key, len(refs))
	for i, ref := range refs {
		keys[i] = deliveryKey(ref)
	}
	items, err := s.batchGetAs(ctx, keys, types.KeysAndAttributes{
		ConsistentRead: aws.Bool(false), ProjectionExpression: aws.String(names.PartitionKey + ", " + names.SortKey),
	})
	if err != nil {
		return nil, translate(err, op)
	}
	recorded := make(map[key]bool, len(items))
	for _, item := range items {
		var k key
		if err := attributevalue.UnmarshalMap(item, &k); err != nil {
			return nil, translate(err, op)
		}
		recorded[k] = true
	}
	return slices.DeleteFunc(slices.Clone(refs), func(ref hook.DeliveryRef) bool { return recorded[deliveryKey(ref)] }), nil
}

// SaveDelivery makes one conditional write, or one transaction with the attempt.
// After CodeConflict, the stored token shows whether an earlier try of the same
// call made the write.
func (s *Store) SaveDelivery(ctx context.Context, d hook.Delivery, attempt *hook.Attempt) error {
	op := "save delivery " + d.ID.String()
	delivery, err := s.next(toDeliveryItem(d), d.Version)
	if err != nil {
		return translate(err, op)
	}
	if attempt == nil {
		return translate(s.writeNext(ctx, delivery), op)
	}
	made, err := s.put(s.payload.toAttemptItem(*attempt, d.Tenant), condition{})
	if err != nil {
		return translate(err, op)
	}
	return translate(s.transact(ctx, delivery, types.TransactWriteItem{Put: made}), op)
}
