package endpoint_test

import (
	"context"
	"testing"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
)

// meanwhile is a store in which another caller changes the endpoint just before the first write.
type meanwhile struct {
	endpoint.Store

	before func()
}

func (s *meanwhile) once() {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
}

func (s *meanwhile) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	s.once()
	return s.Store.UpdateEndpoint(ctx, e)
}

// networks notes which receivers were asked in which network.
type networks struct{ asked []string }

func (n *networks) Prove(_ context.Context, e hook.Endpoint, _ string) error {
	_, egress := e.Origin()
	n.asked = append(n.asked, egress.String()+" "+e.URL)
	return nil
}

func (n *networks) ProveToken(context.Context, hook.Endpoint) error { return nil }

// TestAttack_Change_provedOfAnotherNetwork: the first try has nothing to ask, because the endpoint is
// private already. Meanwhile another caller moves it to the internet, to another URL. The second try
// makes it private with that URL, whose receiver in the private network nobody has asked.
func TestAttack_Change_provedOfAnotherNetwork(t *testing.T) {
	t.Parallel()

	b := within(t)
	e, _ := b.create(t, inside)
	n := new(networks)
	b.Prover = n
	other := *b.Admin
	b.Store = &meanwhile{Store: b.store, before: func() {
		if _, err := other.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Egress: new(hook.EgressShared), URL: new("https://victim.example.com/")}); err != nil {
			t.Error(err)
		}
	}}
	got, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Egress: new(hook.EgressPrivate), Description: new("x")})
	if err != nil {
		t.Fatal(err)
	}
	if got.Private() && len(n.asked) < 2 {
		t.Errorf("the endpoint is private at %s, asked %v; want its receiver asked in the private network", got.URL, n.asked)
	}
}

// TestAttack_withoutTheRight: a caller without the right loses the race, too: the endpoint becomes
// private between the read and the write.
func TestAttack_withoutTheRightRaces(t *testing.T) {
	t.Parallel()

	b := within(t)
	e, _ := b.create(t, nil)
	other := *b.Admin
	b.Store = &meanwhile{Store: b.store, before: func() {
		if _, err := other.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Egress: new(hook.EgressPrivate)}); err != nil {
			t.Error(err)
		}
	}}
	b.PublicOnly = true
	_, err := b.Change(t.Context(), tenant, string(e.ID), 0, endpoint.Fields{Description: new("x")})
	if got := b.stored(t, e.ID); hook.CodeOf(err) != hook.CodeForbidden || !got.Private() || got.Description == "x" {
		t.Errorf("Change = %v; stored %q, private %t; want it refused", err, got.Description, got.Private())
	}
}

// TestAttack_destinationAndBack: secrets of the private network do not leave by way of a destination in AWS.
func TestAttack_destinationAndBack(t *testing.T) {
	t.Parallel()

	b := within(t)
	b.Destinations = hook.Destinations{RolePath: "/surehook/", Account: "444455556666"}
	e, _ := b.create(t, func(f *endpoint.Fields) {
		f.URL, f.Egress = new("https://example.com/hooks"), new(hook.EgressPrivate)
		f.Headers = &map[string]string{"X-Key": "k"}
	})
	for name, f := range map[string]endpoint.Fields{
		"to a destination": {Egress: new(hook.EgressShared), Destination: &hook.Destination{Type: "sqs", Settings: map[string]string{"role_arn": "arn:aws:iam::111122223333:role/surehook/orders"}}, URL: new("https://sqs.eu-west-1.amazonaws.com/111122223333/orders")},
		"shared":           {Egress: new(hook.EgressShared)},
		"masked":           {Egress: new(hook.EgressShared), Headers: &map[string]string{"X-Key": hook.Masked}},
		"other case":       {Egress: new(hook.EgressShared), URL: new("https://EXAMPLE.com:443/hooks")},
		"fixed":            {Egress: new(hook.EgressFixed)},
		"region":           {Egress: new(hook.EgressShared), Region: new("us-east-1")},
	} {
		if got, err := b.Change(t.Context(), tenant, string(e.ID), 0, f); hook.CodeOf(err) != hook.CodeInvalid || err == nil {
			t.Errorf("%s: %v, %d headers kept, private %t; want the header asked for", name, err, len(got.SealedHeaders), got.Private())
		}
	}
}
