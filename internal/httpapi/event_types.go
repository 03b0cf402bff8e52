package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// eventTypeBody holds all fields of an event type. Absent fields are empty.
type eventTypeBody struct {
	Description string         `json:"description"`
	Group       string         `json:"group"`
	Schema      jsontext.Value `json:"schema"`
	Example     jsontext.Value `json:"example"`
	Archived    bool           `json:"archived"`
	Validation  *string        `json:"validation"`
}

// eventTypeView is an event type in responses and in records of changes.
type eventTypeView struct {
	Name        string          `json:"event_type"`
	Description string          `json:"description"`
	Group       string          `json:"group"`
	Archived    bool            `json:"archived"`
	Validation  hook.Validation `json:"validation,omitzero"`
	Version     int64           `json:"version"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
	Schema      []byte          `json:"schema,omitzero"`
	Example     []byte          `json:"example,omitzero"`
}

func (h *manage) putEventType(ctx context.Context, c *call, body eventTypeBody, wrong hook.Fields) (reply, error) {
	version, err := c.beginMatching(ctx, c.r.PathValue("type"), body.audited())
	if err != nil {
		return reply{}, err
	}
	t := hook.EventType{
		Name: c.r.PathValue("type"), Description: body.Description, Group: body.Group, Archived: body.Archived,
		Schema: compact(body.Schema), Example: compact(body.Example),
	}
	if body.Validation != nil {
		if t.Validation, err = hook.ParseValidation(*body.Validation); err != nil {
			wrong.Add("validation", "must be off, warn or reject")
		}
	}
	before, after, err := h.Types.Put(ctx, t, version, wrong...)
	if err != nil {
		return reply{}, fmt.Errorf("put event type: %w", err)
	}
	answer := ok(viewOf[eventTypeView](after)).versioned(after.Version)
	if before.Name == "" {
		c.changed(nil, auditEventType(after))
		answer.status = http.StatusCreated
		return answer, nil
	}
	c.changed(auditEventType(before), auditEventType(after))
	return answer, nil
}

func (h *manage) getEventType(ctx context.Context, c *call) (reply, error) {
	t, err := h.Types.Get(ctx, c.r.PathValue("type"))
	if err != nil {
		return reply{}, fmt.Errorf("get event type: %w", err)
	}
	return ok(viewOf[eventTypeView](t)).versioned(t.Version), nil
}

func (h *manage) deleteEventType(ctx context.Context, c *call) (reply, error) {
	version, err := c.beginMatching(ctx, c.r.PathValue("type"), nil)
	if err != nil {
		return reply{}, err
	}
	t, err := h.Types.Delete(ctx, c.r.PathValue("type"), version)
	if err != nil {
		return reply{}, fmt.Errorf("delete event type: %w", err)
	}
	c.changed(auditEventType(t), nil)
	return reply{status: http.StatusNoContent}, nil
}

func (h *manage) listEventTypes(ctx context.Context, c *call) (reply, error) {
	q := listQuery(c, "group", "archived")
	filter := eventtype.Filter{Archived: q.flag("archived")}
	if q.Has("group") {
		filter.Group = new(q.Get("group"))
		q.wrong.Refuse(len(*filter.Group) > hook.MaxGroup, "group", "must be at most %d bytes", hook.MaxGroup)
	}
	return viewList(q, func(req page.Request) (page.List[hook.EventType], error) {
		return h.Types.List(ctx, filter, req)
	}, viewOf[eventTypeView])
}

// compact returns the value without white space. The decoder has already checked it.
func compact(v jsontext.Value) []byte {
	if len(v) == 0 {
		return nil
	}
	v = v.Clone()
	_ = v.Compact() // the value was decoded
	return v
}

// auditEventType has hashes in place of the schema and the example, because an audit record has no
// room for both documents before and after the change.
func auditEventType(t hook.EventType) eventTypeView {
	t.Schema, t.Example = digest(t.Schema), digest(t.Example)
	return viewOf[eventTypeView](t)
}

// audited is auditEventType for a request.
func (b eventTypeBody) audited() eventTypeBody {
	b.Schema, b.Example = digest(compact(b.Schema)), digest(compact(b.Example))
	return b
}

// digest names a document by its hash and size, as JSON; nil for no document.
func digest(document []byte) []byte {
	if len(document) == 0 {
		return nil
	}
	return fmt.Appendf(nil, `"sha256:%x, %d bytes"`, sha256.Sum256(document), len(document))
}
