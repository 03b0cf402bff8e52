package deadletter

import (
	"cmp"
	"slices"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Group is a summary of the dead letters of one endpoint, class and status, or, without an attempt, of
// one endpoint and reason.
type Group struct {
	Endpoint     hook.EndpointID `json:"endpoint_id"`
	Class        hook.Class      `json:"class,omitzero"`  // of the last attempt; 0 without an attempt
	Status       int             `json:"status,omitzero"` // 0 for no response
	Reason       hook.Reason     `json:"reason"`          // the most frequent reason
	Count        int             `json:"count"`
	FirstAt      time.Time       `json:"first_at"`       // the first death
	LastAt       time.Time       `json:"last_at"`        // the last death
	MeanAttempts float64         `json:"mean_attempts"`  // per dead letter
	Error        string          `json:"error,omitzero"` // the most frequent error; empty if none has one
	Pattern      Pattern         `json:"pattern"`
	Suggestion   string          `json:"suggestion"` // advice for the owner, one or two sentences
}

// Analyzer groups dead letters. The zero Analyzer is ready to use.
type Analyzer struct {
	groups map[key][]letter
}

// key identifies a group.
type key struct {
	endpoint hook.EndpointID
	class    hook.Class
	status   int
	reason   hook.Reason // of dead letters without an attempt; otherwise empty
}

// letter is what a group keeps of a dead delivery.
type letter struct {
	died     time.Time
	attempts int
	reason   hook.Reason
	err      string
}

// Add adds one dead delivery.
func (a *Analyzer) Add(d hook.Delivery) {
	k := key{endpoint: d.ID.Endpoint, class: d.Last.Class, status: d.Last.Status}
	if k.class == 0 {
		k.reason = d.Reason
	}
	if a.groups == nil {
		a.groups = make(map[key][]letter)
	}
	a.groups[k] = append(a.groups[k], letter{died: d.UpdatedAt, attempts: d.Attempts, reason: d.Reason, err: d.Last.Error})
}

// Groups returns the groups, largest first, and groups of equal size by endpoint,
// class, status and reason.
func (a *Analyzer) Groups() []Group {
	groups := make([]Group, 0, len(a.groups))
	for k, letters := range a.groups {
		groups = append(groups, groupOf(k, letters))
	}
	slices.SortFunc(groups, func(x, y Group) int {
		return cmp.Or(
			cmp.Compare(y.Count, x.Count),
			cmp.Compare(x.Endpoint, y.Endpoint),
			cmp.Compare(x.Class, y.Class),
			cmp.Compare(x.Status, y.Status),
			cmp.Compare(x.Reason, y.Reason),
		)
	})
	return groups
}

func groupOf(k key, letters []letter) Group {
	slices.SortFunc(letters, func(a, b letter) int { return a.died.Compare(b.died) })
	attempts, inHour, first := 0, 0, 0
	reasons, errors := make(map[hook.Reason]int), make(map[string]int)
	for i, l := range letters {
		attempts += l.attempts
		reasons[l.reason]++
		if l.err != "" {
			errors[l.err]++
		}
		for l.died.Sub(letters[first].died) >= clusterWindow {
			first++
		}
		inHour = max(inHour, i+1-first)
	}
	g := Group{
		Endpoint:     k.endpoint,
		Class:        k.class,
		Status:       k.status,
		Reason:       most(reasons),
		Count:        len(letters),
		FirstAt:      letters[0].died,
		LastAt:       letters[len(letters)-1].died,
		MeanAttempts: float64(attempts) / float64(len(letters)),
		Error:        most(errors),
	}
	g.Pattern, g.Suggestion = recognize(g, inHour)
	return g
}

// most returns the most frequent value, the smallest one in a tie, and the zero value without any.
func most[T cmp.Ordered](counts map[T]int) (most T) {
	for value, n := range counts {
		if n > counts[most] || n == counts[most] && value < most {
			most = value
		}
	}
	return most
}
