package ingest

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/schema"
)

const (
	// TypesAge is how long a running process may still check events by event types as they were
	// before a change.
	TypesAge = 10 * time.Second
	// MaxTypes bounds the event types that Types keeps, in bytes, including names that have no event
	// type.
	MaxTypes = 16 << 20
)

// TypeStore keeps event types. Every read sees every write acknowledged before the read
// began.
type TypeStore interface {
	// Catalogue returns the state of all event types.
	Catalogue(ctx context.Context) (hook.Catalogue, error)
	// TypeListing returns the event types with the names, which are distinct and at most
	// hook.MaxBatchEvents.
	TypeListing(ctx context.Context, names []string) (TypeListing, error)
}

// TypeListing is some event types, with the state of the catalogue.
type TypeListing struct {
	Catalogue hook.Catalogue
	Types     []hook.EventType // without unknown names, in any order
	// Torn means that there were changes during the read. The types show every change that was
	// acknowledged before the read, but perhaps not every change that Catalogue counts. A
	// listing that is not torn shows one moment.
	Torn bool
}

// Types checks events against event types. It reads the catalogue again after TypesAge, and
// after a change of the catalogue it reads an event type again with the first event of that
// type. In an environment that checks nothing it reads only the catalogue. Types is safe for
// concurrent use.
type Types struct {
	store   TypeStore
	usual   hook.Validation
	age     time.Duration
	mu      sync.Mutex // guards the fields below, and is held during reads
	read    time.Time  // when the catalogue was read
	current hook.Catalogue
	cache   *cache.Cache[string, knownType]
}

// knownType is an event type as of a version of the catalogue.
type knownType struct {
	catalogue int64
	exists    bool
	eventType hook.EventType // without its example, and unless it is pending, without its schema
	schema    *schema.Schema // nil for none, and while pending
	broken    []hook.FieldError
	pending   bool // read, and neither compiled nor kept yet
	torn      bool // of a torn listing
}

// NewTypes returns Types of the store with an empty cache. usual is the environment's
// validation. age is how old the catalogue may get, TypesAge in a deployment.
func NewTypes(store TypeStore, usual hook.Validation, age time.Duration) *Types {
	return &Types{store: store, usual: usual, age: age, cache: cache.New[string, knownType](MaxTypes, nil)}
}

// types are the event types of a request's events. The zero value checks nothing.
type types struct {
	*Types

	known map[string]knownType
}

// find returns the types of the valid posts. If they cannot be read, nobody knows what to
// refuse, so all valid posts fail.
func (t *Types) find(ctx context.Context, posts []post, now time.Time) types {
	if t == nil || !anyValid(posts) {
		return types{}
	}
	known, err := t.known(ctx, posts, now)
	failValid(posts, err)
	return types{t, known}
}

// check checks one post, and sets its warnings or its refusal.
func (t types) check(p *post, left *int) {
	if t.known == nil {
		return
	}
	known := t.complete(t.known[p.event.Type])
	validation := cmp.Or(known.eventType.Validation, t.usual)
	if validation == hook.ValidationOff {
		return
	}
	var cause error
	if *left <= 0 {
		cause = ErrSteps
	}
	wrong := known.check(p.event, left)
	switch {
	case len(wrong) == 0:
	case validation == hook.ValidationReject:
		p.refusal = &hook.Error{Code: hook.CodeMismatch, Message: "the event does not fit its event type", Fields: wrong, Err: cause}
	default:
		p.warnings = wrong
	}
}

// check returns what is wrong with the event. If left is below 1, the schema is not checked.
func (k knownType) check(e hook.Event, left *int) []hook.FieldError {
	if !k.exists {
		return []hook.FieldError{{Field: "event_type", Message: "is not an event type of the environment"}}
	}
	var wrong []hook.FieldError
	if k.eventType.Archived {
		wrong = append(wrong, hook.FieldError{Field: "event_type", Message: "is archived"})
	}
	if k.schema == nil {
		return append(wrong, k.broken...)
	}
	if *left <= 0 {
		return append(wrong, unchecked()...)
	}
	unfit, steps := k.schema.Check(e.Payload, "payload")
	*left -= steps
	return append(wrong, unfit...)
}

// known returns the types of the valid posts; nil if no type is checked.
func (t *Types) known(ctx context.Context, posts []post, now time.Time) (map[string]knownType, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.read.IsZero() || now.Sub(t.read) >= t.age {
		catalogue, err := t.store.Catalogue(ctx)
		if err != nil {
			return nil, fmt.Errorf("read catalogue of event types: %w", err)
		}
		t.current, t.read = catalogue, now
	}
	if t.usual == hook.ValidationOff && t.current.Checked == 0 {
		return nil, nil
	}
	found := make(map[string]knownType)
	var missing []string
	for _, p := range posts {
		name := p.event.Type
		if _, twice := found[name]; twice || p.err != nil {
			continue
		}
		cached, ok := t.cache.Get(name)
		if !ok || cached.catalogue != t.current.Version {
			missing = append(missing, name)
		}
		found[name] = cached
	}
	return found, t.load(ctx, missing, found)
}

// load reads the missing types into found. Their schemas are compiled one after the other, when
// events are checked: those of a batch may be too much memory together.
func (t *Types) load(ctx context.Context, missing []string, found map[string]knownType) error {
	if len(missing) == 0 {
		return nil
	}
	read, err := t.store.TypeListing(ctx, missing)
	if err != nil {
		return fmt.Errorf("read event types: %w", err)
	}
	k := knownType{catalogue: read.Catalogue.Version, pending: true, torn: read.Torn}
	for _, name := range missing {
		k.eventType.Name = name
		found[name] = k
	}
	for _, e := range read.Types {
		e.Example = nil
		k.eventType, k.exists = e, true
		found[e.Name] = k
	}
	if !read.Torn {
		t.current = read.Catalogue // at least as new as the one before
	}
	return nil
}

// complete compiles the schema of a pending type, and keeps the type unless it is of a torn listing:
// like in Directory, a torn listing is used for one call only.
func (t *Types) complete(k knownType) knownType {
	if !k.pending {
		return k
	}
	t.mu.Lock()
	defer t.mu.Unlock()

	if kept, ok := t.cache.Get(k.eventType.Name); ok && kept.catalogue == k.catalogue {
		return kept
	}
	if text := k.eventType.Schema; len(text) > 0 {
		var wrong []hook.FieldError
		if k.schema, wrong = schema.Compile(text, "schema"); len(wrong) > 0 { // another build accepted it under other bounds
			k.broken = []hook.FieldError{{Field: "event_type", Message: "has a schema that cannot be used: " + wrong[0].Field + " " + wrong[0].Message}}
		}
	}
	k.eventType.Schema, k.pending = nil, false
	if k.torn {
		return k
	}
	const fields = 2 << 10 // of the type and of a wrong schema
	bytes := len(k.eventType.Name) + fields
	if k.schema != nil {
		bytes += k.schema.Bytes()
	}
	t.cache.Add(k.eventType.Name, k, bytes)
	return k
}
