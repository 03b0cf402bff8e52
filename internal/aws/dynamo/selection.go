package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// Select reads like DeliveriesByEndpoint, the oldest first. A page may be short or
// empty because stale rows are dropped, and because delivered deliveries are found
// among those of all states. An After outside the selection is CodeInvalid.
func (s *Store) Select(ctx context.Context, selection replay.Selection) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("select %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	l := selectedList(selection)
	after, err := l.openCursor(selection.After)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	page, next, err = s.pageOf(ctx, l, after, selection.Limit)
	return page, next, translate(err, op)
}

// CountSelected reads all index rows of the selection, about 200 bytes each. For state
// delivered, CountSelected reads all deliveries of the span, up to 1 KB each. With an
// error, CountSelected also returns the count so far.
func (s *Store) CountSelected(ctx context.Context, selection replay.Selection) (int, error) {
	op := fmt.Sprintf("count %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	l := selectedList(selection)
	if l.empty() {
		return 0, nil
	}
	count := 0
	for _, source := range l.sources("") {
		source.query.TableName = s.table
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

// selectedList returns the list of the selection.
func selectedList(selection replay.Selection) list {
	l := listOf(selection.Target, selection.State)
	if !selection.From.IsZero() {
		l.from = timeBound(selection.From)
	}
	if !selection.To.IsZero() {
		l.to = timeBound(selection.To)
	}
	return l
}
