package apikey

import (
	"context"
	"fmt"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// Lifetimes of a portal link.
const (
	MinPortalTTL     = time.Minute
	MaxPortalTTL     = 24 * time.Hour
	DefaultPortalTTL = time.Hour
	// OpenPortalFor is how long a link can be opened, or its lifetime if that is shorter.
	OpenPortalFor = 10 * time.Minute
)

// Errors of opening a link. A link of another tenant, an unknown code and an expired code look the
// same to the caller.
var (
	errNoLink   = &hook.Error{Code: hook.CodeNotFound, Message: "the portal link is not known, or was not opened in time"}
	errLinkUsed = &hook.Error{Code: hook.CodeConflict, Message: "the portal link was used already: a link opens once"}
)

// LinkStore keeps portal links, each in its tenant, with their keys. Keys.KeyByHash finds the key of
// an opened link, but the lists of Store do not have it.
type LinkStore interface {
	// PutLink stores a new link.
	PutLink(ctx context.Context, l hook.PortalLink) error
	// Link returns the link; CodeNotFound if the tenant has no such link.
	Link(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (hook.PortalLink, error)
	// OpenLink stores the link with the KeyHash of l, and the key, both or none. CodeConflict
	// if the stored link is gone or was opened.
	OpenLink(ctx context.Context, l hook.PortalLink) error
	// RemoveLink removes the link with the key, both or none. CodeConflict if the stored link
	// is gone, or has another KeyHash than l.
	RemoveLink(ctx context.Context, l hook.PortalLink) error
}

// Links creates, opens and ends portal links. All fields are required.
type Links struct {
	Store LinkStore
	Now   func() time.Time
}

// PortalScopes returns the scopes that a portal link has by default. It can also have
// hook.ScopeTransformations.
func PortalScopes() []hook.Scope {
	return []hook.Scope{hook.ScopeRead, hook.ScopeEndpointsWrite, hook.ScopeReplay}
}

// Create stores a link to the portal of the tenant, and returns it with its code, which is stored
// only as a hash. Its key lives for ttl, from MinPortalTTL to MaxPortalTTL. If scopes is nil, the
// link has all of PortalScopes. CodeInvalid names the wrong fields.
func (p *Links) Create(ctx context.Context, tenant hook.TenantID, ttl time.Duration, scopes []hook.Scope) (hook.PortalLink, string, error) {
	if scopes == nil {
		scopes = PortalScopes()
	}
	if errs := validateLink(ttl, scopes); len(errs) > 0 {
		return hook.PortalLink{}, "", hook.Invalid(errs...)
	}
	now := p.Now().UTC().Truncate(time.Millisecond)
	l := hook.PortalLink{
		ID: hook.NewKeyID(), Tenant: tenant, Scopes: scopes,
		CreatedAt: now, ExpiresAt: now.Add(ttl), OpenUntil: now.Add(min(ttl, OpenPortalFor)),
	}
	code := hook.NewLinkCode(l.ID)
	l.CodeHash = hook.HashKey(code)
	if err := p.Store.PutLink(ctx, l); err != nil {
		return hook.PortalLink{}, "", fmt.Errorf("create portal link %s: %w", l.ID, err)
	}
	return l, code, nil
}

func validateLink(ttl time.Duration, scopes []hook.Scope) []hook.FieldError {
	var errs hook.Fields
	known := append(PortalScopes(), hook.ScopeTransformations)
	errs.Refuse(ttl < MinPortalTTL || ttl > MaxPortalTTL, "ttl", "must be from 1m to 24h")
	errs.Refuse(len(scopes) == 0, "scopes", "must name at least one of %s", list(known))
	checkScopes(&errs, scopes, known)
	return errs
}

// Find returns the tenant's link that the code opens, and changes nothing. CodeInvalid for a text
// that cannot be a code, CodeNotFound for an unknown or expired code, CodeConflict for a used one.
func (p *Links) Find(ctx context.Context, tenant hook.TenantID, code string) (hook.PortalLink, error) {
	id, ok := hook.ParseLinkCode(code)
	if !ok {
		return hook.PortalLink{}, hook.Invalid(hook.FieldError{Field: "code", Message: "must be the code of a portal link"})
	}
	l, err := p.Store.Link(ctx, tenant, id)
	switch {
	case err != nil && hook.CodeOf(err) != hook.CodeNotFound:
		return hook.PortalLink{}, fmt.Errorf("find portal link: %w", err)
	case err != nil, !l.IsCode(code):
		return hook.PortalLink{}, errNoLink
	case l.Opened():
		return hook.PortalLink{}, errLinkUsed
	case !p.Now().Before(l.OpenUntil):
		return hook.PortalLink{}, errNoLink
	}
	return l, nil
}

// Open uses up the link from Find, and returns its key, which is stored only as a hash. CodeConflict
// if another call opened the link first, so only one of two calls gets a key. If the answer is lost,
// the link is used up, and nobody has the key.
func (p *Links) Open(ctx context.Context, l hook.PortalLink) (key string, err error) {
	key = hook.NewKeyText()
	l.KeyHash = hook.HashKey(key)
	if err := p.Store.OpenLink(ctx, l); err != nil {
		if hook.CodeOf(err) == hook.CodeConflict {
			return "", errLinkUsed
		}
		return "", fmt.Errorf("open portal link %s: %w", l.ID, err)
	}
	return key, nil
}

// endTries are enough for all that other calls can do to a link while End runs: they open it, and remove it.
const endTries = 3

// End removes the link with its key, and returns the removed link. CodeNotFound if the tenant has no
// such link. API Gateway caches authentication, so the key may be accepted for another minute.
func (p *Links) End(ctx context.Context, tenant hook.TenantID, id hook.KeyID) (l hook.PortalLink, err error) {
	err = store.Repeat(ctx, nil, endTries, func() error {
		if l, err = p.Store.Link(ctx, tenant, id); err != nil {
			return err
		}
		return p.Store.RemoveLink(ctx, l)
	})
	if err != nil {
		return hook.PortalLink{}, fmt.Errorf("end portal link %s: %w", id, err)
	}
	return l, nil
}
