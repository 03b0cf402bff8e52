package ingest

import (
	"slices"
	"strings"
	"sync"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
)

// listing is a Listing that finds the endpoints of an event by its type. It is safe for concurrent use.
type listing struct {
	mu        sync.RWMutex
	mark      Mark
	ofTenant  hook.TenantLimits
	size      int
	endpoints map[hook.EndpointID]*subscriber
	exact     map[string][]*subscriber // by event type
	prefixes  map[string][]*subscriber // by what stands before the * of a pattern
}

// subscriber is a Subscriber with its filter parsed.
type subscriber struct {
	Subscriber

	filter *filter.Filter // nil for none
}

func newListing(read Listing) *listing {
	l := &listing{
		mark: read.Mark, ofTenant: read.Limits, endpoints: make(map[hook.EndpointID]*subscriber, len(read.Endpoints)),
		exact: make(map[string][]*subscriber), prefixes: make(map[string][]*subscriber),
	}
	for _, e := range read.Endpoints {
		l.add(e)
	}
	return l
}

func (l *listing) at() Mark {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.mark
}

func (l *listing) limits() hook.TenantLimits {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.ofTenant
}

func (l *listing) version() int64 { return l.at().Version }

// bytes returns about how much memory the listing takes, and not less.
func (l *listing) bytes() int {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.size
}

func (l *listing) versionOf(id hook.EndpointID) int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()

	if e := l.endpoints[id]; e != nil {
		return e.Version
	}
	return 0
}

// coalesce returns the setting of the endpoint; zero for an unknown one.
func (l *listing) coalesce(id hook.EndpointID) hook.Coalescing {
	l.mu.RLock()
	defer l.mu.RUnlock()

	if e := l.endpoints[id]; e != nil {
		return e.Coalesce
	}
	return hook.Coalescing{}
}

// apply makes the changes since the mark, unless another call has changed the listing.
func (l *listing) apply(since Mark, c Changes) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.mark.Version != since.Version {
		return false
	}
	l.mark, l.ofTenant = c.Mark, c.Limits
	for _, id := range c.Changed {
		l.remove(id)
	}
	for _, e := range c.Endpoints {
		l.add(e)
	}
	return true
}

// add adds an endpoint, with its filter if this build can parse it. After a rollback an endpoint may
// have a filter of a later build. It then gets every event of its types: an unwanted delivery does less
// harm than a missing one.
func (l *listing) add(e Subscriber) {
	s := &subscriber{Subscriber: e}
	if len(e.Filter) > 0 {
		if f, wrong := filter.Parse(e.Filter, ""); len(wrong) == 0 {
			s.filter = f
		}
		s.Filter = nil // parsed
	}
	l.endpoints[e.ID] = s
	l.size += s.bytes()
	for _, pattern := range e.EventTypes {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			l.prefixes[prefix] = append(l.prefixes[prefix], s)
		} else {
			l.exact[pattern] = append(l.exact[pattern], s)
		}
	}
}

// remove removes the endpoint if it is known.
func (l *listing) remove(id hook.EndpointID) {
	s := l.endpoints[id]
	if s == nil {
		return
	}
	delete(l.endpoints, id)
	l.size -= s.bytes()
	for _, pattern := range s.EventTypes {
		index := l.exact
		pattern, ok := strings.CutSuffix(pattern, "*")
		if ok {
			index = l.prefixes
		}
		if left := slices.DeleteFunc(index[pattern], func(other *subscriber) bool { return other == s }); len(left) > 0 {
			index[pattern] = left
		} else {
			delete(index, pattern)
		}
	}
}

// bytes returns about how much memory the subscriber takes in a listing, and not less.
func (s *subscriber) bytes() int {
	const (
		fields  = 400 // and those of maps
		indexed = 150 // with a map's entry for a pattern of its own
	)
	n := fields + len(s.ID)
	for _, t := range s.EventTypes {
		n += indexed + len(t)
	}
	if s.filter != nil {
		n += s.filter.Bytes()
	}
	return n
}

// subscribed returns the endpoints with a pattern for the type, in the order of their ids.
func (l *listing) subscribed(eventType string) []*subscriber {
	found := slices.Clone(l.exact[eventType])
	for i := range len(eventType) { // a * stands for at least one character
		found = append(found, l.prefixes[eventType[:i]]...)
	}
	found = slices.DeleteFunc(found, func(s *subscriber) bool { return !hook.Subscribes(s.EventTypes, eventType) })
	slices.SortFunc(found, func(a, b *subscriber) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return slices.Compact(found)
}

// targets returns the endpoints that subscribe to the type and whose filter, if any, matches
// the event. It returns an error if no steps are left. The payload is decoded only if there is
// a filter.
func (l *listing) targets(eventType string, payload []byte, left *int) ([]hook.Target, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()

	document := sync.OnceValue(func() filter.Document {
		d := filter.NewDocument(eventType, payload)
		*left -= d.Steps
		return d
	})
	var targets []hook.Target
	for _, e := range l.subscribed(eventType) {
		if e.filter != nil {
			if *left <= 0 {
				return nil, errFilters()
			}
			matches, steps := e.filter.Matches(document())
			if *left -= steps; !matches {
				continue
			}
		}
		targets = append(targets, hook.Endpoint{ID: e.ID, Shards: e.Shards}.Target())
	}
	return targets, nil
}
