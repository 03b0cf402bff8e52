package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"surehook/internal/admin/registry"
	"surehook/internal/hook"
)

// query returns the parameters of the request's query, of which only those
// named may be there, each once.
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

// pageOf reads which part of a list the query asks for. names are the other
// parameters that it may hold.
func pageOf(c *call, names ...string) (registry.Page, url.Values, error) {
	values, err := query(c, append([]string{"limit", "cursor"}, names...)...)
	if err != nil {
		return registry.Page{}, nil, err
	}
	p := registry.Page{Limit: registry.DefaultPage, Cursor: values.Get("cursor")}
	if values.Has("limit") {
		p.Limit, err = strconv.Atoi(values.Get("limit"))
		if err != nil || p.Limit < 1 || p.Limit > registry.MaxPage {
			return registry.Page{}, nil, hook.Invalid(hook.FieldError{
				Field: "limit", Message: fmt.Sprintf("must be 1 to %d", registry.MaxPage),
			})
		}
	}
	return p, values, nil
}

// listView is a page of a list.
type listView[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"` // null at the end
}

func viewList[T, V any](l registry.List[T], view func(T) V) reply {
	v := listView[V]{Data: make([]V, len(l.Data))}
	for i, t := range l.Data {
		v.Data[i] = view(t)
	}
	if l.Next != "" {
		v.NextCursor = &l.Next
	}
	return ok(v)
}
