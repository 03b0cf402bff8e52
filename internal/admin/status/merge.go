package status

import (
	"context"
	"slices"
)

// Bounds of the requests of a page.
const (
	// maxParts bounds the parts of a list: the first look at each part is a request.
	maxParts = 1000
	// moreRequests bounds the requests of a page after the first look at each part.
	moreRequests = 24
	// recordReads is the part of moreRequests for the records of the rows: a batch
	// read takes 100, and a page looks at 101 rows at once.
	recordReads = 2
	// concurrentReads bounds the concurrent requests. The client of the table keeps 10
	// idle connections.
	concurrentReads = 8
)

// source is one part of a list.
type source struct {
	read func(ctx context.Context, span Span, look int) (rows []Row, more bool, err error)

	rows    []Row    // read, and not yet in the list
	more    bool     // the part may have rows after rows
	reached Position // of the last row looked at
}

// dry reports whether the source has no row at hand, and may have rows.
func (s *source) dry() bool { return len(s.rows) == 0 && s.more }

// looks are the numbers of rows of a request.
type looks struct{ first, next int }

// merge reads the rows of several sources as one list, newest first. After the first
// look at every source, a page makes at most left requests.
type merge struct {
	sources []*source
	span    Span // From: the list begins after the position
	looks   looks
	started bool
	left    int
}

// newMerge returns the list in the span after the position; nil: from its begin.
func newMerge(sources []*source, span Span, after *Position, l looks) *merge {
	span.From = after
	return &merge{sources: sources, span: span, looks: l, left: moreRequests}
}

// take returns the next rows of the list, at most n. A shorter result means the end of
// the list, or the end of the requests: see rest.
func (m *merge) take(ctx context.Context, n int) ([]Row, error) {
	if !m.started {
		m.started = true
		if err := m.read(ctx, m.sources, m.looks.first); err != nil {
			return nil, err
		}
	}
	var list []Row
	for len(list) < n {
		next := m.next()
		if dry := m.blocking(next); len(dry) > 0 {
			dry = dry[:max(min(len(dry), m.left-recordReads, concurrentReads), 0)]
			if len(dry) == 0 {
				break
			}
			m.left -= len(dry)
			if err := m.read(ctx, dry, m.looks.next); err != nil {
				return nil, err
			}
			continue
		}
		if next == nil {
			break
		}
		list = append(list, next.rows[0])
		next.rows = next.rows[1:]
	}
	return list, nil
}

// spent reports whether the page has no request left for another look.
func (m *merge) spent() bool { return m.left <= recordReads }

// next returns the source with the next of all rows at hand; nil for none.
func (m *merge) next() *source {
	var next *source
	for _, s := range m.sources {
		if len(s.rows) > 0 && (next == nil || s.rows[0].Compare(next.rows[0].Position) < 0) {
			next = s
		}
	}
	return next
}

// blocking returns the dry sources that may have a row before the next row, in the order of how
// far they have been read.
func (m *merge) blocking(next *source) []*source {
	var dry []*source
	for _, s := range m.sources {
		if s.dry() && (next == nil || s.reached.Compare(next.rows[0].Position) < 0) {
			dry = append(dry, s)
		}
	}
	slices.SortFunc(dry, func(a, b *source) int { return a.reached.Compare(b.reached) })
	return dry
}

// rest returns the position up to which take returned all rows, after a short result.
// ok is false at the end of the list.
func (m *merge) rest() (at Position, ok bool) {
	dry := m.blocking(nil)
	if len(dry) == 0 {
		return Position{}, false
	}
	return dry[0].reached, true
}

// read looks at the next rows of the sources.
func (m *merge) read(ctx context.Context, sources []*source, look int) error {
	return each(ctx, len(sources), concurrentReads, func(ctx context.Context, i int) error {
		s, span := sources[i], m.span
		if s.reached != (Position{}) {
			span.From = new(s.reached)
		}
		rows, more, err := s.read(ctx, span, look)
		if err != nil {
			return err
		}
		if s.more = more && len(rows) > 0; len(rows) > 0 {
			s.reached = rows[len(rows)-1].Position
		}
		s.rows = slices.DeleteFunc(rows, func(row Row) bool {
			return span.From != nil && row.Compare(*span.From) <= 0
		})
		return nil
	})
}
