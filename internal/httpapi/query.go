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

// query returns the parameters of the request's query; CodeInvalid for repeated
// parameters and for parameters not in names.
func query(c *call, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, hook.Invalid(hook.FieldError{Field: "query", Message: "is not well-formed"})
	}
	for name, given := range values {
		switch {
		case !slices.Contains(names, name):
			return nil, hook.Invalid(hook.FieldError{Field: name, Message: "is not a known parameter"})
		case len(given) > 1:
			return nil, hook.Invalid(hook.FieldError{Field: name, Message: "is given twice"})
		}
	}
	return values, nil
}

// pageRequest returns the requested page and all parameters of the query. names
// are the allowed parameters besides limit and cursor.
func pageRequest(c *call, names ...string) (page.Request, url.Values, error) {
	values, err := query(c, append([]string{"limit", "cursor"}, names...)...)
	if err != nil {
		return page.Request{}, nil, err
	}
	limit, err := limitIn(values, page.DefaultLimit, page.MaxLimit)
	return page.Request{Limit: limit, Bytes: c.pageBytes, Cursor: values.Get("cursor")}, values, err
}

// limitIn returns the number of items asked for, from 1 to most.
func limitIn(values url.Values, without, most int) (int, error) {
	if !values.Has("limit") {
		return without, nil
	}
	limit, err := strconv.Atoi(values.Get("limit"))
	if err != nil || limit < 1 || limit > most {
		return 0, hook.Invalid(hook.FieldError{Field: "limit", Message: fmt.Sprintf("must be 1 to %d", most)})
	}
	return limit, nil
}

// listView is a page of a list.
type listView[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"` // null at the end
}

// viewList responds with a page of a list, bounded in bytes. It is the only way to make a
// listView.
func viewList[T, V any](r page.Request, read func(page.Request) (page.List[T], error), view func(T) V) (reply, error) {
	l, err := page.Encode(r, read, func(t T) ([]byte, error) { return marshal(view(t)) })
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
