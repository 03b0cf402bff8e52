package dynamo

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

// Select reads a page of the index like Parked, the oldest first. A page may be short or
// empty because stale rows are dropped, and because delivered deliveries are found
// among those of all states. An After outside the selection is CodeInvalid.
func (s *Store) Select(ctx context.Context, selection replay.Selection) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("select %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	l := listOf(selection)
	after, err := l.openCursor(selection.After)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	limit := min(max(selection.Limit, 1), maxPage)
	first := limit + 1 // one more to learn whether another page exists
	if after != "" {
		first++ // for the row at after
	}
	m := s.merged(s.sources(l, after), after, first, maxRows)
	rows, err := m.Take(ctx, limit+1)
	if err != nil {
		return nil, "", translate(err, op)
	}
	if at := m.Rest(); len(rows) > limit {
		rows = rows[:limit]
		next = l.cursor(rows[limit-1].at)
	} else if at != nil { // a source looked at maxPages pages, so the page ends where all sources were read
		next = l.cursor(at.at)
	}
	page, err = current(ctx, s, rows, l.position)
	return page, next, translate(err, op)
}

// CountSelected reads all index rows of the selection, about 200 bytes each. For state
// delivered, CountSelected reads all deliveries of the span, up to 1 KB each. With an
// error, CountSelected also returns the count so far.
func (s *Store) CountSelected(ctx context.Context, selection replay.Selection) (int, error) {
	op := fmt.Sprintf("count %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	count := 0
	for _, source := range s.sources(listOf(selection), "") {
		source.query.Select = types.SelectCount
		for pages := dynamodb.NewQueryPaginator(s.db, source.query); pages.HasMorePages(); {
			out, err := pages.NextPage(ctx)
			if err != nil {
				return count, translate(err, op)
			}
			count += int(out.Count)
		}
	}
	return count, nil
}

// Oldest makes one query per shard, and reads no records.
func (s *Store) Oldest(ctx context.Context, selection replay.Selection) (rows []backlog.Row, more bool, err error) {
	op := fmt.Sprintf("find oldest %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	sources, limit := s.sources(listOf(selection), ""), min(max(selection.Limit, 1), maxPage)
	pages := make([][]indexRow, len(sources))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for i, source := range sources {
		group.Go(func() (err error) {
			pages[i], _, err = s.rows(groupCtx, source, limit+1)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, false, translate(err, op)
	}
	for _, page := range pages {
		if len(page) > limit {
			page, more = page[:limit], true
		}
		for _, row := range page {
			at, event, generation, err := parsePosition(row.at)
			if err != nil {
				return nil, false, translate(err, op)
			}
			id := hook.DeliveryID{Event: event, Endpoint: selection.Endpoint, Generation: generation}
			rows = append(rows, backlog.Row{ID: id, State: selection.State, CreatedAt: at})
		}
	}
	slices.SortFunc(rows, func(a, b backlog.Row) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return rows, more, nil
}

// Newest makes one query per shard. A row may be stale, and then the newest delivery is older.
func (s *Store) Newest(ctx context.Context, selection replay.Selection) (time.Time, error) {
	op := fmt.Sprintf("find newest %s delivery of endpoint %s", selection.State, selection.Endpoint)
	newest := "" // positions have the order of times
	for _, source := range s.sources(listOf(selection), "") {
		source.query.ScanIndexForward = aws.Bool(false)
		rows, _, err := s.rows(ctx, source, 1)
		if err != nil {
			return time.Time{}, translate(err, op)
		}
		for _, row := range rows {
			newest = max(newest, row.at)
		}
	}
	if newest == "" {
		return time.Time{}, nil
	}
	at, _, _, err := parsePosition(newest)
	return at, translate(err, op)
}

// SelectEvents makes one query per shard of the target. It needs no records, because the position
// of a delivery names its event. An After that is not a position is CodeInvalid.
func (s *Store) SelectEvents(ctx context.Context, tenant hook.TenantID, sel replay.Selection) (page []hook.Event, next string, err error) {
	op := "select events of tenant " + string(tenant)
	from, to := spanBounds(status.Span{Since: sel.From, Until: sel.To})
	if sel.After != "" {
		if _, _, _, err := parsePosition(sel.After); err != nil || sel.After < from || sel.After > to {
			return nil, "", fmt.Errorf("%s: %w", op, hook.Invalid(hook.FieldError{Field: "cursor", Message: "is not a cursor of this list"}))
		}
		from = sel.After
	}
	if from >= to {
		return nil, "", nil
	}
	limit := min(max(sel.Limit, 1), maxPage)
	m := s.merged(s.eventSources(tenant, sel.Target, from, to), sel.After, limit+1, maxRows)
	rows, err := m.Take(ctx, limit)
	if err != nil {
		return nil, "", translate(err, op)
	}
	for _, row := range rows {
		at, event, generation, err := parsePosition(row.at)
		if err != nil {
			return nil, "", translate(err, op)
		}
		if next = row.at; generation <= 1 { // one row of each event
			page = append(page, hook.Event{ID: event, Tenant: tenant, AcceptedAt: at})
		}
	}
	if at := m.Rest(); len(rows) < limit && at != nil {
		next = at.at
	} else if !m.More() {
		next = ""
	}
	return page, next, nil
}

// eventSources returns the queries of the target, in the order of positions.
func (s *Store) eventSources(tenant hook.TenantID, target hook.Target, from, to string) []source {
	if target.Endpoint == "" {
		return s.shardQueries(untargetedList(tenant), hook.UntargetedShards, between, from, to)
	}
	var all []source
	for n := range target.Shards {
		rows := s.span("", deliveryPartition(target.Endpoint, n), deliveryPrefix, from, to)
		rows.query.ProjectionExpression = aws.String(names.PartitionKey + ", " + names.SortKey)
		all = append(all, rows)
	}
	return all
}

// maxPage bounds a page of deliveries: one BatchGetItem reads 100 keys.
const maxPage = maxBatchKeys

// Parked makes at most 5 index queries per shard, and a batch read for every 100 rows. limit is
// cut to 1 to 1000. The index may lag a moment: a delivery parked just now may be
// absent, but every returned delivery is parked.
func (s *Store) Parked(ctx context.Context, target hook.Target, since time.Time, limit int, but admit.Except) ([]hook.Delivery, error) {
	l := listOf(replay.Selection{Target: target, State: hook.StateParked, From: since})
	parked, err := pageThrough(ctx, s, s.sources(l, ""), min(limit, maxRows), l.position, but)
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
