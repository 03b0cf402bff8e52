// Package eventtype manages the event types of an environment, which are the same for all tenants:
// their descriptions, schemas and examples.
//
// Event types belong to the operator; package httpapi authorizes the callers. Package
// ingest checks events against their types. The package knows neither HTTP nor storage.
package eventtype

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/schema"
	"surehook.example/surehook/internal/store"
)

// Store keeps event types. Every read sees every write acknowledged before the read began.
type Store interface {
	// EventType returns the type; CodeNotFound for an unknown name.
	EventType(ctx context.Context, name string) (hook.EventType, error)
	// EventTypesAfter returns the types after the name, in the order of the names, at most
	// limit (1 to 100). A page may be short before the end. more is true if other types may
	// follow.
	EventTypesAfter(ctx context.Context, after string, limit int) (page []hook.EventType, more bool, err error)
	// PutEventType stores after as version before.Version + 1, and changes the catalogue.
	// For a new type, before is zero. CodeConflict if the stored version is not
	// before.Version; CodeForbidden for a new type past hook.MaxTypesPerEnvironment.
	PutEventType(ctx context.Context, before, after hook.EventType) error
	// DeleteEventType removes the type, and changes the catalogue. CodeConflict if the stored
	// version is not t.Version.
	DeleteEventType(ctx context.Context, t hook.EventType) error
}

// Admin manages event types. All fields but Wait are required.
type Admin struct {
	Store Store
	Now   func() time.Time
	Wait  store.Wait // between two tries of a write; nil: by the real clock
}

// Get returns the type; CodeNotFound for an unknown name.
func (a *Admin) Get(ctx context.Context, name string) (hook.EventType, error) {
	if !hook.ValidEventType(name) {
		return hook.EventType{}, hook.NotFound("event type")
	}
	return a.Store.EventType(ctx, name)
}

// Put creates the type, or replaces all of its fields. version is the version that the stored type
// must have, or 0 for any. If nothing differs, Put writes nothing, and the version stays the same.
// before is zero for a new type. malformed are fields that could not be decoded, and so are missing
// in t.
//
// Errors: CodeInvalid names the wrong fields, with the place in schema or example; CodeStale for
// another version, also if there is no such type; CodeForbidden past hook.MaxTypesPerEnvironment;
// CodeUnavailable if others keep changing it.
func (a *Admin) Put(
	ctx context.Context, t hook.EventType, version int64, malformed ...hook.FieldError,
) (before, after hook.EventType, err error) {
	if wrong := hook.AlsoWrong(malformed, check(t)); len(wrong) > 0 {
		return hook.EventType{}, hook.EventType{}, hook.Invalid(wrong...)
	}
	types := a.types(a.Store.PutEventType)
	types.Read = func(ctx context.Context, name string) (hook.EventType, error) {
		before, err := a.Store.EventType(ctx, name)
		if hook.CodeOf(err) == hook.CodeNotFound {
			return hook.EventType{}, nil
		}
		return before, err
	}
	return types.Update(ctx, t.Name, func(before hook.EventType) (hook.EventType, bool, error) {
		if version != 0 && version != before.Version {
			return before, false, stale()
		}
		after := t
		after.Version, after.CreatedAt, after.UpdatedAt = before.Version, before.CreatedAt, before.UpdatedAt
		if before.Name != "" && same(before, after) {
			return before, false, nil
		}
		after.UpdatedAt = a.Now().UTC().Truncate(time.Millisecond)
		if before.Name == "" {
			after.CreatedAt = after.UpdatedAt
		}
		return after, true, nil
	})
}

// Delete removes the type and returns it. version is the version that the type must have, or 0 for
// any. Errors: CodeNotFound for an unknown name; CodeStale for another version; CodeUnavailable if
// others keep changing it.
func (a *Admin) Delete(ctx context.Context, name string, version int64) (hook.EventType, error) {
	types := a.types(func(ctx context.Context, before, _ hook.EventType) error { return a.Store.DeleteEventType(ctx, before) })
	before, _, err := types.Update(ctx, name, func(t hook.EventType) (hook.EventType, bool, error) {
		if version != 0 && version != t.Version {
			return t, false, stale()
		}
		return t, true, nil
	})
	return before, err
}

// types are the event types, with what a change does.
func (a *Admin) types(write func(ctx context.Context, before, after hook.EventType) error) store.Table[string, hook.EventType] {
	return store.Table[string, hook.EventType]{
		Name: "the event type", Wait: a.Wait, Read: a.Get,
		Write: func(ctx context.Context, _ string, before, after hook.EventType) (hook.EventType, error) {
			err := write(ctx, before, after)
			after.Version++
			return after, err
		},
	}
}

func stale() error {
	return &hook.Error{Code: hook.CodeStale, Message: "the event type was changed since it was read"}
}

func same(a, b hook.EventType) bool {
	return a.Description == b.Description && a.Group == b.Group && a.Archived == b.Archived && a.Validation == b.Validation &&
		bytes.Equal(a.Schema, b.Schema) && bytes.Equal(a.Example, b.Example)
}

// check returns the wrong fields. An example is checked only against a schema that compiles.
func check(t hook.EventType) []hook.FieldError {
	wrong := hook.ValidateEventType(t)
	if len(t.Schema) == 0 || len(t.Schema) > hook.MaxSchema {
		return wrong
	}
	compiled, errs := schema.Compile(t.Schema, "schema")
	if len(errs) > 0 || len(t.Example) == 0 || len(t.Example) > hook.MaxExample {
		return append(wrong, errs...)
	}
	unfit, _ := compiled.Check(t.Example, "example")
	for _, e := range unfit {
		wrong = append(wrong, hook.FieldError{Field: e.Field, Message: "does not fit the schema: " + e.Message})
	}
	return wrong
}

// Filter selects types.
type Filter struct {
	Group    *string // nil: all groups
	Archived bool    // only archived types; false: only types that are not archived
}

func (f Filter) matches(t hook.EventType) bool {
	return t.Archived == f.Archived && (f.Group == nil || *f.Group == t.Group)
}

// List returns a page of the types that the filter selects, in the order of their names. CodeInvalid
// for the cursor of another list.
func (a *Admin) List(ctx context.Context, f Filter, p page.Request) (page.List[hook.EventType], error) {
	group := "all"
	if f.Group != nil {
		group = "of " + *f.Group
	}
	return page.After(page.Scope("event-types", group, fmt.Sprint(f.Archived)), p, func(after string) (found []hook.EventType, next string, err error) {
		if after != "" && !hook.ValidEventType(after) { // forged
			return nil, "", page.InvalidCursor()
		}
		for more := true; more; {
			var types []hook.EventType
			if types, more, err = a.Store.EventTypesAfter(ctx, after, page.MaxLimit); err != nil {
				return nil, "", fmt.Errorf("list event types: %w", err)
			}
			for _, t := range types {
				if f.matches(t) {
					if len(found) == p.Limit {
						return found, after, nil
					}
					found = append(found, t)
				}
				after = t.Name
			}
			more = more && len(types) > 0
		}
		return found, "", nil
	})
}
