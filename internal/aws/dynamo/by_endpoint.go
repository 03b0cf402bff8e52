package dynamo

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// maxPage bounds a page of deliveries: one BatchGetItem reads 100 keys.
const maxPage = maxBatchKeys

// Parked makes at most 5 index queries per shard, and a batch read for every 100 rows. limit is
// cut to 1 to 1000. The index may lag a moment: a delivery parked just now may be
// absent, but every returned delivery is parked.
func (s *Store) Parked(ctx context.Context, target hook.Target, since time.Time, limit int) ([]hook.Delivery, error) {
	l := listOf(replay.Selection{Target: target, State: hook.StateParked, From: since})
	parked, err := pageThrough(ctx, s, s.sources(l, ""), min(limit, maxRows), l.position)
	return parked, translate(err, "list parked deliveries of endpoint "+string(target.Endpoint))
}

// Overdue queries the shards of the list: 64 of retrying and 16 of queued deliveries. It also reads
// the records of those whose row is due and whose next attempt is not. limit is cut to 1 to 1000.
// The index may lag a moment, but every returned delivery is in the state.
func (s *Store) Overdue(ctx context.Context, state hook.State, from, before time.Time, limit int) ([]hook.Delivery, error) {
	if !from.Before(before) { // DynamoDB rejects a query with a lower bound above the upper bound
		return nil, nil
	}
	row := func(d hook.Delivery) stateRow {
		if !d.OverdueFrom().Before(before) {
			return stateRow{}
		}
		return dueRow(d)
	}
	name, shards := dueListOf(state)
	overdue, err := listed(ctx, s, name, shards, min(limit, maxRows), row, between, timeBound(from), timeBound(before))
	return overdue, translate(err, "list overdue deliveries")
}

// list is a list of deliveries of a target in one state, in the order of position by
// CreatedAt. Positions are after from and before to.
type list struct {
	target   hook.Target
	state    hook.State
	from, to string
}

// listOf returns the list of the selection.
func listOf(selection replay.Selection) list {
	from, to := spanBounds(status.Span{Since: selection.From, Until: selection.To})
	return list{selection.Target, selection.State, from, to}
}

// position returns the position of the delivery in the list, or "" for a delivery in
// another state.
func (l list) position(d hook.Delivery) string {
	if d.State != l.state {
		return ""
	}
	return position(d.CreatedAt, d.ID)
}

// sources returns the queries for the rows from after on; the first row may have the
// position after. The index lists every delivery of the state, except delivered ones that
// were created when their event was accepted. Their keys begin with that time, so a
// query of the shard returns them in the order of the list. A list without positions has none: DynamoDB
// rejects a query with a lower bound above the upper bound.
func (s *Store) sources(l list, after string) []source {
	if l.from >= l.to {
		return nil
	}
	from := l.from
	if after != "" {
		from = after
	}
	var all []source
	for shard := range l.target.Shards {
		partition := deliveryPartition(l.target.Endpoint, shard)
		all = append(all, s.span(names.IndexByEndpoint, partition, indexPrefix(l.state), from, l.to))
		if l.state != hook.StateDelivered {
			continue
		}
		first := s.span("", partition, deliveryPrefix, from, l.to)
		first.query.FilterExpression = aws.String("#state = :state AND attribute_not_exists(endpoint_sk)")
		first.query.ExpressionAttributeNames = map[string]string{"#state": "state"} // a reserved word
		first.query.ExpressionAttributeValues[":state"] = encode(l.state)
		all = append(all, first)
	}
	return all
}

// prefix begins the text of the list's cursors.
func (l list) prefix() string { return string(l.target.Endpoint) + "#" + l.state.String() + "#" }

// cursor returns a cursor for the rows after the position.
func (l list) cursor(position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(l.prefix() + position))
}

// openCursor returns the position in the cursor, or "" for the empty cursor. A
// position outside the list is CodeInvalid.
func (l list) openCursor(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	invalid := hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"})
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", invalid
	}
	at, own := strings.CutPrefix(string(b), l.prefix())
	if _, _, _, err := parsePosition(at); err != nil || !own || at < l.from || at > l.to {
		return "", invalid
	}
	return at, nil
}
