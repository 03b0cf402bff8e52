package dynamo

import (
	"context"

	"surehook/internal/hook"
)

type eventItem struct {
	key
	ID             hook.EventID      `dynamodbav:"id"`
	Tenant         hook.TenantID     `dynamodbav:"tenant"`
	Type           string            `dynamodbav:"type"`
	Payload        []byte            `dynamodbav:"payload"`
	Encoding       string            `dynamodbav:"encoding,omitempty"` // of Payload; empty: not encoded
	TraceParent    string            `dynamodbav:"trace_parent,omitempty"`
	IdempotencyKey string            `dynamodbav:"idempotency_key,omitempty"`
	Targets        []hook.EndpointID `dynamodbav:"targets,omitempty"`
	AcceptedAt     int64             `dynamodbav:"accepted_at"`
	ExpiresAt      int64             `dynamodbav:"expires_at,omitempty"`
	Nonce          string            `dynamodbav:"nonce,omitempty"`
}

func (c codec) toEventItem(e hook.Event) eventItem {
	payload, encoding := c.encode(e.Payload)
	return eventItem{
		key:            eventKey(e.ID),
		ID:             e.ID,
		Tenant:         e.Tenant,
		Type:           e.Type,
		Payload:        payload,
		Encoding:       encoding,
		TraceParent:    e.TraceParent,
		IdempotencyKey: e.IdempotencyKey,
		Targets:        e.Targets,
		AcceptedAt:     millis(e.AcceptedAt),
		ExpiresAt:      ttl(e.ExpiresAt),
		Nonce:          e.Nonce,
	}
}

func (c codec) fromEventItem(it eventItem) (hook.Event, error) {
	payload, err := c.decode(it.Payload, it.Encoding)
	if err != nil {
		return hook.Event{}, err
	}
	return hook.Event{
		ID:             it.ID,
		Tenant:         it.Tenant,
		Type:           it.Type,
		Payload:        payload,
		TraceParent:    it.TraceParent,
		IdempotencyKey: it.IdempotencyKey,
		Targets:        it.Targets,
		AcceptedAt:     fromMillis(it.AcceptedAt),
		ExpiresAt:      fromTTL(it.ExpiresAt),
		Nonce:          it.Nonce,
	}, nil
}

// PutEvent makes one conditional write. After CodeConflict, the stored nonce
// shows whether an earlier try of the same call made the write.
func (s *Store) PutEvent(ctx context.Context, e hook.Event) error {
	op := "put event " + string(e.ID)
	put, err := s.put(s.payload.toEventItem(e), absent())
	if err != nil {
		return translate(err, op)
	}
	return translate(s.write(ctx, put), op)
}

// Event reads one item.
func (s *Store) Event(ctx context.Context, id hook.EventID) (hook.Event, error) {
	var it eventItem
	if err := s.get(ctx, eventKey(id), &it, "event", string(id)); err != nil {
		return hook.Event{}, err
	}
	e, err := s.payload.fromEventItem(it)
	return e, translate(err, "read event "+string(id))
}
