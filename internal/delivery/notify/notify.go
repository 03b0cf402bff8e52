// Package notify tells what happened to endpoints and deliveries: to the
// endpoint's history, to the tenant's endpoints that subscribe to it, as an
// event of ours, and to the operators' topic.
//
// It may be told the same twice: a notice has a key, under which it is kept and
// posted once. What the topic publishes may repeat.
package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"surehook/internal/delivery/ingest"
	"surehook/internal/emf"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// History keeps what was decided about endpoints.
type History interface {
	// PutNotification keeps the notice under its time and key; it is the same however often it is kept.
	PutNotification(ctx context.Context, n hook.Notification) error
}

// Poster posts events of ours.
type Poster interface {
	// AcceptOurs accepts an event of ours for the endpoints that subscribe to it,
	// once per key; without any it does nothing.
	AcceptOurs(ctx context.Context, tenant hook.TenantID, eventType string, payload []byte, key string) (ingest.Result, error)
}

// Topic is where operators listen.
type Topic interface {
	// Publish sends the message, a JSON document, with its type beside it.
	Publish(ctx context.Context, eventType string, message []byte) error
}

// Notifier tells notices. All fields must be set; without an environment in
// Metrics there are none.
type Notifier struct {
	History History
	Poster  Poster
	Topic   Topic
	Metrics emf.Set
	Log     *slog.Logger
}

// Notify tells the notice to all who should hear of it, and writes one line about
// it. After an error it should be told again.
func (t Notifier) Notify(ctx context.Context, n hook.Notification) error {
	if n.InHistory() {
		if err := t.History.PutNotification(ctx, n); err != nil {
			return fmt.Errorf("keep %s of endpoint %s: %w", n.Type, n.Endpoint, err)
		}
	}
	payload, err := encode(n)
	if err != nil {
		return err
	}
	_, err = t.Poster.AcceptOurs(ctx, n.Tenant, n.Type, payload, n.Key)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict { // conflict: it was told before, with other figures
		return fmt.Errorf("post %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	if err := t.Topic.Publish(ctx, n.Type, payload); err != nil {
		return fmt.Errorf("publish %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	t.log(ctx, n)
	return nil
}

// log writes the line, which is also where the openings of circuits are counted:
// the gate, which opens them, tells it and writes nothing.
func (t Notifier) log(ctx context.Context, n hook.Notification) {
	line := []slog.Attr{
		slog.String(names.LogType, n.Type),
		slog.String(names.LogTenant, string(n.Tenant)),
		slog.String(names.LogEndpoint, string(n.Endpoint)),
		slog.String(names.LogReason, n.Reason),
	}
	if n.Delivery.Generation > 0 {
		line = append(line, slog.String(names.LogDelivery, n.Delivery.String()))
	}
	if n.Type == hook.NotificationOpened {
		line = t.Metrics.Append(line, n.At, emf.Count(names.MetricCircuits, 1))
	}
	t.Log.LogAttrs(ctx, slog.LevelInfo, "notification.sent", line...)
}

// document is a notice as its readers get it.
type document struct {
	Type     string             `json:"type"`
	At       string             `json:"at"` // RFC 3339, UTC, milliseconds
	Tenant   hook.TenantID      `json:"tenant"`
	Endpoint hook.EndpointID    `json:"endpoint_id"`
	Delivery string             `json:"delivery_id,omitempty"`
	Event    hook.EventID       `json:"event_id,omitempty"`
	Reason   string             `json:"reason"`
	Figures  map[string]float64 `json:"figures,omitempty"`
}

func encode(n hook.Notification) ([]byte, error) {
	d := document{
		Type:     n.Type,
		At:       n.At.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z"),
		Tenant:   n.Tenant,
		Endpoint: n.Endpoint,
		Event:    n.Delivery.Event,
		Reason:   n.Reason,
		Figures:  n.Figures,
	}
	if n.Delivery.Generation > 0 {
		d.Delivery = n.Delivery.String()
	}
	payload, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	return payload, nil
}
