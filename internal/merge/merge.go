// Package merge reads several lists as one, in the order of their rows. It reads further rows of a list
// only when they may come next, and knows neither the rows nor where they are from.
package merge

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Source reads rows of a list in their order: those after the row, or the first ones. It looks at as many
// rows as look says, of which it may leave some out. more is the last row looked at if others may follow;
// nil: none do.
type Source[R any] func(ctx context.Context, after *R, look int) (rows []R, more *R, err error)

// List is the rows of several sources as one list. Its fields but Left do not change once it is read.
type List[R any] struct {
	Compare     func(a, b R) int
	After       *R  // the list begins after the row; nil: at its begin
	First, Next int // rows that the first read of a source looks at, and every other one
	Left        int // reads left after the first of every source
	Each        int // reads of one source at most; 0: any number
	AtOnce      int // concurrent reads

	sources []*part[R]
}

// part is a source, and what is read of it.
type part[R any] struct {
	read    Source[R]
	rows    []R // read, and not yet in the list
	reached *R  // the last row looked at
	more    bool
	reads   int
}

// Add adds a source.
func (l *List[R]) Add(read Source[R]) {
	l.sources = append(l.sources, &part[R]{read: read, reached: l.After})
}

// dry reports whether the source has no row at hand, and may have rows.
func (s *part[R]) dry() bool { return len(s.rows) == 0 && (s.more || s.reads == 0) }

// Take returns the next rows of the list, at most n. A shorter result is the end of the list, or of the
// reads: see Rest. A failed read fails the call, because the list would miss rows.
func (l *List[R]) Take(ctx context.Context, n int) ([]R, error) {
	var list []R
	for len(list) < n {
		next := l.next()
		if dry := l.blocking(next); len(dry) > 0 {
			if dry = l.allowed(dry); len(dry) == 0 {
				break
			}
			if err := l.read(ctx, dry); err != nil {
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

// Rest returns the row up to which Take returned all rows, after a short result; nil: the list is at its end.
func (l *List[R]) Rest() *R {
	for _, s := range l.blocking(nil) {
		return s.reached
	}
	return nil
}

// More reports whether the list may go on.
func (l *List[R]) More() bool {
	return slices.ContainsFunc(l.sources, func(s *part[R]) bool { return len(s.rows) > 0 || s.dry() })
}

// next returns the source with the next of all rows at hand; nil for none.
func (l *List[R]) next() *part[R] {
	var next *part[R]
	for _, s := range l.sources {
		if len(s.rows) > 0 && (next == nil || l.Compare(s.rows[0], next.rows[0]) < 0) {
			next = s
		}
	}
	return next
}

// blocking returns the dry sources that may have a row before the next row, in the order of how far
// they have been read.
func (l *List[R]) blocking(next *part[R]) []*part[R] {
	var dry []*part[R]
	for _, s := range l.sources {
		if s.dry() && (next == nil || s.reads == 0 || l.Compare(*s.reached, next.rows[0]) < 0) {
			dry = append(dry, s)
		}
	}
	slices.SortFunc(dry, func(a, b *part[R]) int {
		if a.reads == 0 || b.reads == 0 {
			return a.reads - b.reads
		}
		return l.Compare(*a.reached, *b.reached)
	})
	return dry
}

// allowed returns the first of the sources that may be read.
func (l *List[R]) allowed(dry []*part[R]) []*part[R] {
	if dry[0].reads == 0 {
		return dry
	}
	if l.Each > 0 && slices.ContainsFunc(dry, func(s *part[R]) bool { return s.reads >= l.Each }) {
		return nil
	}
	dry = dry[:max(min(len(dry), l.Left, l.AtOnce), 0)]
	l.Left -= len(dry)
	return dry
}

// read looks at the next rows of the sources.
func (l *List[R]) read(ctx context.Context, sources []*part[R]) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(l.AtOnce)
	for _, s := range sources {
		group.Go(func() error {
			look := l.Next
			if s.reads++; s.reads == 1 {
				look = l.First
			}
			rows, more, err := s.read(ctx, s.reached, look)
			if err != nil {
				return err
			}
			s.rows = slices.DeleteFunc(rows, func(r R) bool { return s.reached != nil && l.Compare(r, *s.reached) <= 0 })
			if s.more = more != nil; s.more {
				s.reached = more
			}
			return nil
		})
	}
	return group.Wait()
}
