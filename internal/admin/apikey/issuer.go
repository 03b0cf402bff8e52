package apikey

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

const (
	maxKeyName  = 128 // bytes
	maxNetworks = 20
)

// Store keeps the API keys of people and programs. Links keeps the keys of portal links.
type Store interface {
	// PutKey stores a new key.
	PutKey(ctx context.Context, k hook.APIKey) error
	// Keys returns all keys, in the order of their ids.
	Keys(ctx context.Context) ([]hook.APIKey, error)
	// DeleteKey removes the key and returns the removed key; CodeNotFound if the key
	// does not exist.
	DeleteKey(ctx context.Context, id hook.KeyID) (hook.APIKey, error)
}

// Issuer creates, lists and revokes API keys. All fields are required.
type Issuer struct {
	Store Store
	Now   func() time.Time
}

// Request is a request for a key, with the names of the API.
type Request struct {
	Name      string            `json:"name"`
	Tenant    hook.TenantID     `json:"tenant"` // or hook.AllTenants
	Scopes    []hook.Scope      `json:"scopes"`
	ExpiresAt time.Time         `json:"expires_at"`       // zero: never
	Networks  []string          `json:"allowed_networks"` // CIDR blocks, IPv4 or IPv6; nil: every network
	Wrong     []hook.FieldError `json:"-"`                // fields of a wrong form, absent above: reported with the other wrong fields
}

// Create stores a new API key and returns the key and its clear text. The clear
// text is not stored, so no later call returns the text. CodeInvalid names the wrong
// fields.
func (i *Issuer) Create(ctx context.Context, q Request) (hook.APIKey, string, error) {
	now := i.Now().UTC().Truncate(time.Millisecond)
	networks, errs := parseNetworks(q.Networks)
	if !q.ExpiresAt.IsZero() && !q.ExpiresAt.After(now) {
		errs = append(errs, hook.FieldError{Field: "expires_at", Message: "must be in the future"})
	}
	if errs = hook.AlsoWrong(q.Wrong, append(validateKey(q.Name, q.Tenant, q.Scopes), errs...)); len(errs) > 0 {
		return hook.APIKey{}, "", hook.Invalid(errs...)
	}
	text := hook.NewKeyText()
	k := hook.APIKey{
		ID:          hook.NewKeyID(),
		Name:        q.Name,
		Tenant:      q.Tenant,
		Scopes:      q.Scopes,
		Hash:        hook.HashKey(text),
		CreatedAt:   now,
		Restriction: hook.Restriction{ExpiresAt: q.ExpiresAt, Networks: networks},
	}
	if err := i.Store.PutKey(ctx, k); err != nil {
		return hook.APIKey{}, "", fmt.Errorf("create key %s: %w", k.ID, err)
	}
	return k, text, nil
}

// List returns a page of all API keys, in the order of their ids.
func (i *Issuer) List(ctx context.Context, p page.Request) (page.List[hook.APIKey], error) {
	all, err := i.Store.Keys(ctx)
	if err != nil {
		return page.List[hook.APIKey]{}, fmt.Errorf("list keys: %w", err)
	}
	return page.Of(all, page.Scope("keys"), p, func(k hook.APIKey) string { return string(k.ID) })
}

// Revoke removes the key and returns the removed key; CodeNotFound if the key does
// not exist. API Gateway caches authentication, so requests may pass for a minute longer.
func (i *Issuer) Revoke(ctx context.Context, id hook.KeyID) (hook.APIKey, error) {
	return i.Store.DeleteKey(ctx, id)
}

func validateKey(name string, tenant hook.TenantID, scopes []hook.Scope) []hook.FieldError {
	var errs hook.Fields
	errs.Refuse(name == "", "name", "is missing")
	errs.Refuse(len(name) > maxKeyName || !hook.ValidText(name), "name", "must be 1 to %d bytes without control characters", maxKeyName)
	_, wrong := hook.ParseTenantID(string(tenant))
	errs.Refuse(tenant == "", "tenant", "is missing")
	errs.Refuse(wrong != nil && tenant != "" && tenant != hook.AllTenants, "tenant", `%s, or "*" for all`, hook.TenantRule)
	errs.Refuse(scopes == nil, "scopes", "is missing")
	errs.Refuse(scopes != nil && len(scopes) == 0, "scopes", "must name at least one of %s", list(hook.Scopes()))
	checkScopes(&errs, scopes, hook.Scopes())
	return errs
}

// checkScopes refuses unknown and repeated scopes.
func checkScopes(errs *hook.Fields, scopes, known []hook.Scope) {
	for i, s := range scopes {
		field, isKnown := fmt.Sprintf("scopes[%d]", i), slices.Contains(known, s)
		errs.Refuse(!isKnown, field, "must be one of %s", list(known))
		errs.Refuse(isKnown && slices.Contains(scopes[:i], s), field, "is named twice")
	}
}

// parseNetworks parses CIDR blocks. A block with bits after the prefix is refused,
// because such a block is often a mistyped address.
func parseNetworks(texts []string) ([]netip.Prefix, []hook.FieldError) {
	var (
		networks []netip.Prefix
		errs     hook.Fields
	)
	errs.Refuse(texts != nil && len(texts) == 0 || len(texts) > maxNetworks, "allowed_networks", "must name 1 to %d networks, or be left out", maxNetworks)
	for i, text := range texts {
		network, err := netip.ParsePrefix(text)
		errs.Refuse(err != nil || network != network.Masked() || network.Addr().Is4In6(), fmt.Sprintf("allowed_networks[%d]", i),
			`must be a CIDR block without host bits, such as "192.0.2.0/24" or "2001:db8::/32"`)
		networks = append(networks, network)
	}
	return networks, errs
}

func list(scopes []hook.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
