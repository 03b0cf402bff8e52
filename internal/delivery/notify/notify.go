// Package notify sends notifications about endpoints and deliveries to three
// recipients:
//
//   - the history of the endpoint, except notifications of dead deliveries,
//   - the tenant's subscribed endpoints, as a system event,
//   - the operators' topic.
//
// Repeated notifications are harmless: the history has one entry and the tenant gets one system
// event per notification key. Only the topic may publish a notification twice.
package notify

import (
	"context"
	"fmt"
	"log/slog"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/emf"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// History keeps the notifications about endpoints.
type History interface {
	// PutNotification stores the notification under the time and the key. Repeated
	// calls store one record.
	PutNotification(ctx context.Context, n hook.Notification) error
}

// Poster posts system events.
type Poster interface {
	// AcceptOurs accepts a system event for the subscribed endpoints, once per key. Without a
	// subscribed endpoint it does nothing. If an event with the key exists with another payload,
	// it stays, and only its missing tasks are sent. CodeConflict means that the payload of that
	// event was erased.
	AcceptOurs(ctx context.Context, tenant hook.TenantID, eventType string, payload []byte, key string) (ingest.Result, error)
}

// Topic publishes messages to operators.
type Topic interface {
	// Publish sends the message, a JSON document, with the type as an attribute.
	Publish(ctx context.Context, eventType string, message []byte) error
}

// Notifier sends notifications. All fields must be set. With an empty environment
// in Metrics, no metrics are written.
type Notifier struct {
	History History
	Poster  Poster
	Topic   Topic
	Metrics emf.Set
	Log     *slog.Logger
}

var _ settle.Notifier = Notifier{}

// Notify sends the notification to all recipients and writes one log line. After an error the
// caller may call it again. Each error counts in the metrics, because some callers ignore it.
func (nt Notifier) Notify(ctx context.Context, n hook.Notification) error {
	err := nt.send(ctx, n)
	if line := nt.Metrics.Append(nil, n.At, emf.Count(names.MetricUnnotified, 1)); err != nil && len(line) > 0 {
		nt.Log.LogAttrs(ctx, slog.LevelInfo, "notification.measured", line...)
	}
	return err
}

// send sends the notification to all recipients and writes the log line.
func (nt Notifier) send(ctx context.Context, n hook.Notification) error {
	if n.IsDecision() {
		if err := nt.History.PutNotification(ctx, n); err != nil {
			return fmt.Errorf("store %s of endpoint %s: %w", n.Type, n.Endpoint, err)
		}
	}
	payload, err := encode(n)
	if err != nil {
		return fmt.Errorf("encode %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	_, err = nt.Poster.AcceptOurs(ctx, n.Tenant, n.Type, payload, n.Key)
	if err != nil && hook.CodeOf(err) != hook.CodeConflict { // conflict: posted before, and erased
		return fmt.Errorf("post %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	if err := nt.Topic.Publish(ctx, n.Type, payload); err != nil {
		return fmt.Errorf("publish %s of endpoint %s: %w", n.Type, n.Endpoint, err)
	}
	nt.log(ctx, n)
	return nil
}

// log writes the log line. The line of an opened circuit also carries its metric,
// because nothing else logs the opening, and so does the line of an endpoint at risk.
func (nt Notifier) log(ctx context.Context, n hook.Notification) {
	line := []slog.Attr{
		slog.String(names.LogType, n.Type),
		slog.String(names.LogTenant, string(n.Tenant)),
		slog.String(names.LogEndpoint, string(n.Endpoint)),
		slog.String(names.LogReason, n.Reason),
	}
	if n.Delivery.Generation > 0 {
		line = append(line, slog.String(names.LogDelivery, n.Delivery.String()))
	}
	switch n.Type {
	case hook.NotificationOpened:
		line = nt.Metrics.Append(line, n.At, emf.Count(names.MetricCircuits, 1))
	case hook.NotificationAtRisk:
		line = nt.Metrics.Append(line, n.At, emf.Count(names.MetricAtRisk, 1))
	}
	nt.Log.LogAttrs(ctx, slog.LevelInfo, "notification.sent", line...)
}
