package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// Parameters of lists.
const (
	endpointParam = "endpoint"
	stateParam    = "state"
	typeParam     = "event_type"
	statusParam   = "status_class"
	failedParam   = "failed_attempt"
	blockingParam = "blocking"
	keyParam      = "idempotency_key"
	sinceParam    = "since"
	untilParam    = "until"
)

// params are the parameters of a query. They collect what is wrong with them.
type params struct {
	url.Values
	page  page.Request // of a list
	wrong hook.Fields
}

// query returns the parameters of the request's query. Repeated parameters are wrong, and so are those
// not in names.
func query(c *call, names ...string) *params {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	q := &params{Values: values}
	q.wrong.Refuse(err != nil, "query", "is not well-formed")
	for name, given := range values {
		switch {
		case !slices.Contains(names, name):
			q.wrong.Add(name, "is not a known parameter")
			q.Del(name)
		case len(given) > 1:
			q.wrong.Add(name, "is given twice")
		}
	}
	return q
}

// listQuery returns the parameters of a list: limit, cursor and those in names.
func listQuery(c *call, names ...string) *params {
	q := query(c, append([]string{"limit", "cursor"}, names...)...)
	q.page = page.Request{Limit: q.limit(page.DefaultLimit, page.MaxLimit), Bytes: c.pageBytes, Cursor: q.Get("cursor")}
	return q
}

// limit returns the number of items asked for, from 1 to most.
func (q *params) limit(without, most int) int {
	if !q.Has("limit") {
		return without
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	q.wrong.Refuse(err != nil || limit < 1 || limit > most, "limit", "must be 1 to %d", most)
	return limit
}

// answer responds with what read reads, unless parameters are wrong.
func (q *params) answer(read func() (any, error)) (reply, error) {
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	return answer(read())
}

// listView is a page of a list.
type listView[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"` // null at the end
}

// allView is a list without pages.
type allView[T any] struct {
	Data []T `json:"data"`
}

// viewList responds with a page of a list, bounded in bytes, unless parameters are wrong. It is the
// only way to make a listView.
func viewList[T, V any](q *params, read func(page.Request) (page.List[T], error), view func(T) V) (reply, error) {
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	l, err := page.Encode(q.page, read, func(t T) ([]byte, error) { return marshal(view(t)) })
	if err != nil {
		return reply{}, fmt.Errorf("read page: %w", err)
	}
	v := listView[jsontext.Value]{Data: make([]jsontext.Value, len(l.Data))}
	for i, text := range l.Data {
		v.Data[i] = text
	}
	if l.Next != "" {
		v.NextCursor = &l.Next
	}
	return ok(v), nil
}

// refusal returns the error about the wrong fields of a body, or the wrong parameters of a query; nil
// for none.
func refusal(wrong hook.Fields) error {
	if len(wrong) == 0 {
		return nil
	}
	return hook.Invalid(wrong...)
}

// optionalText returns the optional text of a body; an empty text is an error.
func optionalText[T ~string](wrong *hook.Fields, field string, given *T) string {
	if given == nil {
		return ""
	}
	wrong.Refuse(*given == "", field, "must not be empty")
	return string(*given)
}

// given returns the text of a parameter; an empty text is an error.
func (q *params) given(name string) string {
	q.wrong.Refuse(q.Has(name) && q.Get(name) == "", name, "must not be empty")
	return q.Get(name)
}

func (q *params) eventType() string {
	eventType := q.Get(typeParam)
	q.wrong.Refuse(q.Has(typeParam) && !hook.ValidEventType(eventType), typeParam, "must be an exact type of events")
	return eventType
}

func (q *params) state() hook.State {
	state, err := hook.ParseState(q.Get(stateParam))
	q.wrong.Refuse(err != nil, stateParam, "must be one of retrying, parked, delivered, dead, discarded, cancelled")
	return state
}

// word returns the value of a parameter that is one of the words, or absent.
func (q *params) word(name, message string, words ...string) string {
	q.wrong.Refuse(q.Has(name) && !slices.Contains(words, q.Get(name)), name, "%s", message)
	return q.Get(name)
}

func (q *params) statusClass() string {
	return q.word(statusParam, "must be one of none, 2xx, 3xx, 4xx, 5xx", "none", "2xx", "3xx", "4xx", "5xx")
}

// flag returns the value of a parameter that is true or false; false if the parameter is absent.
func (q *params) flag(name string) bool {
	return q.word(name, "must be true or false", "true", "false") == "true"
}

// time returns a time in RFC 3339, or the zero time if the parameter is absent. A time after all
// times that can be stored becomes the last possible one, because stored times have four digits
// for the year. A time before all of them becomes the start of 1970, because the zero time means
// no bound.
func (q *params) time(name string) time.Time {
	if !q.Has(name) {
		return time.Time{}
	}
	text := q.Get(name)
	at, err := time.Parse(time.RFC3339, text)
	switch _, plus := time.Parse(time.RFC3339, strings.ReplaceAll(text, " ", "+")); {
	case err != nil && plus == nil:
		q.wrong.Add(name, "has a space before its zone: a query decodes + as a space, so write %%2B in its place")
	case err != nil:
		q.wrong.Add(name, "must be a time such as 2026-11-21T09:30:00Z")
	}
	if last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC); at.After(last) {
		return last
	}
	if first := time.Unix(0, 0).UTC(); at.Before(first) {
		return first
	}
	return at.UTC()
}
