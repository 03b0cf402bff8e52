package ingest

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/filter"
)

// listing is a Listing that finds the endpoints of an event by its type. Nobody changes it.
type listing struct {
	mark      Mark
	limits    hook.TenantLimits
	bytes     int // about how much memory it takes, and not less
	endpoints map[hook.EndpointID]*subscriber
	exact     map[string][]*subscriber // by event type
	prefixes  map[string][]*subscriber // by what stands before the * of a pattern
}

// subscriber is a Subscriber with its filter parsed.
type subscriber struct {
	Subscriber

	filter *filter.Filter // nil for none
}

// with returns the listing after the changes since its mark. The zero listing has no endpoints.
func (l *listing) with(c Changes) *listing {
	next := &listing{
		mark: c.Mark, limits: c.Limits, endpoints: make(map[hook.EndpointID]*subscriber, len(l.endpoints)+len(c.Endpoints)),
		exact: make(map[string][]*subscriber), prefixes: make(map[string][]*subscriber),
	}
	maps.Copy(next.endpoints, l.endpoints)
	for _, id := range c.Changed {
		delete(next.endpoints, id)
	}
	for _, e := range c.Endpoints {
		next.endpoints[e.ID] = parsed(e)
	}
	for _, s := range next.endpoints {
		next.bytes += s.bytes()
		for _, pattern := range s.EventTypes {
			if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
				next.prefixes[prefix] = append(next.prefixes[prefix], s)
			} else {
				next.exact[pattern] = append(next.exact[pattern], s)
			}
		}
	}
	return next
}

// parsed returns the endpoint with its filter if this build can parse it. After a rollback an endpoint may
// have a filter of a later build. It then gets every event of its types: an unwanted delivery does less
// harm than a missing one.
func parsed(e Subscriber) *subscriber {
	s := &subscriber{Subscriber: e}
	if len(e.Filter) > 0 {
		if f, wrong := filter.Parse(e.Filter, ""); len(wrong) == 0 {
			s.filter = f
		}
		s.Filter = nil // parsed
	}
	return s
}

// versionOf returns the version of the endpoint; 0 for an unknown one.
func (l *listing) versionOf(id hook.EndpointID) int64 {
	if e := l.endpoints[id]; e != nil {
		return e.Version
	}
	return 0
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
