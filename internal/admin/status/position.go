package status

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Position is a position in a list, newest first. In a list of events, the generation is 0 and
// the endpoint is empty, so the position is after all deliveries of the event.
type Position struct {
	hook.DeliveryID

	At int64 // the list's time of the row, in milliseconds since 1970
}

// maxAt is the last millisecond of the year 9999: stored times have a fixed width.
const maxAt = 253402300799999

// Compare orders positions as in lists: newest first.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(q.At, p.At), cmp.Compare(q.Event, p.Event), cmp.Compare(q.Generation, p.Generation), cmp.Compare(q.Endpoint, p.Endpoint),
	)
}

// Time returns the time of the row.
func (p Position) Time() time.Time { return time.UnixMilli(p.At).UTC() }

// text returns the form for cursors; empty for nil.
func (p *Position) text() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%d#%s#%d#%s", p.At, p.Event, p.Generation, p.Endpoint)
}

// parsePosition is the inverse of text. A position becomes part of keys, so parsePosition accepts
// only the text of a row that can exist.
func parsePosition(s string) (p *Position, ok bool) {
	if s == "" {
		return nil, true
	}
	parts := strings.Split(s, "#")
	if len(parts) != 4 {
		return nil, false
	}
	at, badTime := strconv.ParseInt(parts[0], 10, 64)
	event, badEvent := hook.ParseEventID(parts[1])
	generation, badNumber := strconv.Atoi(parts[2])
	p = &Position{At: at, DeliveryID: hook.DeliveryID{Event: event, Generation: generation}}
	if badTime != nil || badEvent != nil || badNumber != nil || at < 0 || at > maxAt || generation < 0 || generation > hook.MaxGeneration {
		return nil, false
	}
	if parts[3] != "" {
		endpoint, err := hook.ParseEndpointID(parts[3])
		if err != nil {
			return nil, false
		}
		p.Endpoint = endpoint
	}
	return p, p.text() == s
}
