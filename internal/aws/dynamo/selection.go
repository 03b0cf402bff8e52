package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/delivery/replay"
	"surehook/internal/hook"
)

// Select makes one index query and one batch read. A page may be short or empty
// because stale index rows are dropped. An After outside the selection is
// CodeInvalid.
func (s *Store) Select(ctx context.Context, selection replay.Selection) (page []hook.Delivery, next string, err error) {
	op := fmt.Sprintf("select %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	p := selectedSpan(selection)
	start, err := openCursor(selection.After, p)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", op, err)
	}
	page, next, err = s.pageOf(ctx, p, true, start, selection.Limit)
	return page, next, translate(err, op)
}

// CountSelected reads all index rows of the selection, about 200 bytes each.
// With an error, CountSelected also returns the count so far.
func (s *Store) CountSelected(ctx context.Context, selection replay.Selection) (int, error) {
	op := fmt.Sprintf("count %s deliveries of endpoint %s", selection.State, selection.Endpoint)
	p := selectedSpan(selection)
	if p.empty() {
		return 0, nil
	}
	query := p.query()
	query.TableName = s.table
	query.Select = types.SelectCount
	count := 0
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return count, translate(err, op)
		}
		count += int(out.Count)
	}
	return count, nil
}

// selectedSpan returns the span of the selection.
func selectedSpan(selection replay.Selection) span {
	p := spanOf(selection.Endpoint, selection.State)
	if !selection.From.IsZero() {
		p.from = indexBound(selection.State, selection.From)
	}
	if !selection.To.IsZero() {
		p.to = indexBound(selection.State, selection.To)
	}
	return p
}
