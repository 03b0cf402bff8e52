package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// source is a query whose rows are in the order of their positions in a list.
type source struct {
	query    *dynamodb.QueryInput
	position func(indexRow) string
}

// merge reads the rows of several sources as one list, in the order of the positions.
type merge struct {
	s       *Store
	after   string // the list begins after this position; empty: at its begin
	sources []*rows
}

// rows are the rows of one source.
type rows struct {
	source

	first   []indexRow // read, and not yet in the list
	reached string     // the position of the last row looked at; empty before the first request
	pages   int        // requests so far
	more    bool       // the source may have rows after first
}

// newMerge returns the list of the sources. The sources must not share values.
func (s *Store) newMerge(sources []source) *merge {
	m := &merge{s: s}
	for _, source := range sources {
		m.sources = append(m.sources, &rows{source: source, more: true})
	}
	return m
}

// next returns the next rows of the list, at most limit. next makes at most one
// request for each source without rows at hand, for at most pageSize rows. A
// result shorter than limit is not the end: see more. An error of one source is
// an error of next, because the list would miss the source's rows.
func (m *merge) next(ctx context.Context, limit, pageSize int) ([]indexRow, error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for _, r := range m.sources {
		if r.dry() {
			group.Go(func() error { return r.read(groupCtx, m, pageSize) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var list []indexRow
	for len(list) < limit {
		var least *rows
		for _, r := range m.sources {
			if len(r.first) > 0 && (least == nil || r.first[0].at < least.first[0].at) {
				least = r
			}
		}
		if frontier, dry := m.frontier(); least == nil || dry && (frontier == "" || frontier < least.first[0].at) {
			break // the next row of the list may be a row not read yet
		}
		list = append(list, least.first[0])
		least.first = least.first[1:]
	}
	return list, nil
}

// frontier returns the position up to which all sources were read; dry is false when
// no source needs another request.
func (m *merge) frontier() (at string, dry bool) {
	for _, r := range m.sources {
		if r.dry() && (!dry || at != "" && r.reached < at || r.reached == "") {
			at, dry = r.reached, true
		}
	}
	return at, dry
}

// dry reports whether the source has no row at hand, and may have rows.
func (r *rows) dry() bool { return len(r.first) == 0 && r.more }

// read reads the next page of the source.
func (r *rows) read(ctx context.Context, m *merge, pageSize int) error {
	r.query.Limit = aws.Int32(int32(min(max(pageSize, 1), maxRows)))
	out, err := m.s.db.Query(ctx, r.query)
	if err != nil {
		return err
	}
	items := out.Items
	r.more = len(out.LastEvaluatedKey) > 0
	if r.more {
		items = append(slices.Clone(items), out.LastEvaluatedKey)
	}
	page, err := r.decode(items)
	if err != nil {
		return err
	}
	if r.more {
		r.reached = page[len(page)-1].at
		page = page[:len(page)-1]
	}
	r.first = slices.DeleteFunc(page, func(row indexRow) bool { return row.at == m.after })
	r.query.ExclusiveStartKey = out.LastEvaluatedKey
	r.pages++
	return nil
}

func (r *rows) decode(items []map[string]types.AttributeValue) ([]indexRow, error) {
	page, err := decodeItems[indexRow](items)
	if err != nil {
		return nil, err
	}
	for i := range page {
		page[i].at = r.position(page[i])
	}
	return page, nil
}

// more reports whether the list may go on.
func (m *merge) more() bool {
	return slices.ContainsFunc(m.sources, func(r *rows) bool { return len(r.first) > 0 || r.more })
}

// exhausted reports whether next needs a page of a source with maxPages pages.
func (m *merge) exhausted() bool {
	return slices.ContainsFunc(m.sources, func(r *rows) bool { return r.dry() && r.pages >= maxPages })
}

// firstPage returns the size of the first page of each source of a list with the
// limit: twice the mean of rows per source, and 16 more, so that one request for
// each source is usually enough.
func firstPage(limit, sources int) int { return min(limit, 2*limit/sources+16) }
