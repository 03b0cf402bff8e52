package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
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

// listed is viewList for items that are answered as they are.
func listed[T any](q *params, read func(page.Request) (page.List[T], error)) (reply, error) {
	return viewList(q, read, func(t T) T { return t })
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
