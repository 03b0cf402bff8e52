package person

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/names"
)

// New returns the verifier of the deployment's sign-in; nil for the zero SignIn.
func New(s names.SignIn, log *slog.Logger, now func() time.Time) (apikey.People, error) {
	if s.Issuer == "" {
		return nil, nil //nolint:nilnil // no sign-in is no fault
	}
	groups, err := names.ParseRoles(s.Roles)
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return &Verifier{
		Issuer: s.Issuer, ClientID: s.ClientID, Claim: cmp.Or(s.Claim, names.DefaultClaim), Roles: groups,
		Keys: &KeySet{Issuer: s.Issuer, Client: NewClient(), Log: log, Now: now}, Log: log, Now: now,
	}, nil
}
