package ingest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"surehook/internal/delivery/parallel"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// coalescing returns the endpoints that get the events of a window together; nil for none.
func (l listing) coalescing() map[hook.EndpointID]hook.Endpoint {
	var found map[hook.EndpointID]hook.Endpoint
	for _, e := range l.Endpoints {
		if !e.Coalesce.On() {
			continue
		}
		if found == nil {
			found = make(map[hook.EndpointID]hook.Endpoint)
		}
		found[e.ID] = e
	}
	return found
}

// destination is a lane and the time of a token's arrival.
type destination struct {
	lane hook.Lane
	at   time.Time
}

// coalesced returns the destination of an event's token to a coalescing endpoint: all
// tokens of a window arrive at its end, and never before earliest.
func coalesced(e hook.Endpoint, event hook.Event, earliest time.Time) destination {
	at := e.Coalesce.End(event.AcceptedAt)
	if at.Before(earliest) {
		_, at = e.LaneAt(hook.LaneCoalesce, earliest)
	}
	return destination{lane: hook.LaneCoalesce, at: at}
}

// sending is the tokens with one destination, and their posts.
type sending struct {
	to     destination
	tokens []hook.Token
	owners []*post
}

// add adds a token to the sending of its destination. The destinations are few: a window
// has one end.
func (d destination) add(all []sending, token hook.Token, owner *post) []sending {
	for i := range all {
		if s := &all[i]; s.to.lane == d.lane && s.to.at.Equal(d.at) {
			s.tokens, s.owners = append(s.tokens, token), append(s.owners, owner)
			return all
		}
	}
	return append(all, sending{to: d, tokens: []hook.Token{token}, owners: []*post{owner}})
}

// markNewest records the accepted events that are the newest of their key and window, after
// all of their tokens are on the queue: function deliver then ends the older events. A
// crash before, or an error, only means that an older event is delivered as well. So an
// error fails no post: a repeated post would deliver more. A test event is no news about
// its key, so no event of the customer ends for it.
func (a *Acceptor) markNewest(ctx context.Context, posts []post, coalescing map[hook.EndpointID]hook.Endpoint) {
	if len(coalescing) == 0 {
		return
	}
	newest := make(map[hook.NewestKey]hook.Newest)
	for _, p := range posts {
		for _, target := range p.event.Targets {
			e, ok := coalescing[target.Endpoint]
			if !ok || p.err != nil || p.test || p.duplicate && a.Now().After(e.Coalesce.End(p.event.AcceptedAt)) {
				continue
			}
			if n, ok := hook.NewestOf(&e, &p.event); ok && (newest[n.NewestKey].Event == "" || n.After(newest[n.NewestKey])) {
				newest[n.NewestKey] = n
			}
		}
	}
	all := slices.Collect(maps.Values(newest))
	parallel.Each(len(all), concurrentWrites, func(i int) error {
		if err := a.Store.PutNewest(ctx, all[i]); err != nil && a.Log != nil {
			a.Log.WarnContext(ctx, "newest.put_failed",
				slog.String(names.LogEvent, string(all[i].Event)), slog.String(names.LogEndpoint, string(all[i].Endpoint)), slog.Any(names.LogError, err))
		}
		return nil
	})
}
