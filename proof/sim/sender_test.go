package sim_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
)

const otherRegion = "us-east-1"

var fixedAddresses = []netip.Addr{netip.MustParseAddr("192.0.2.1")}

var errNoAnswer = errors.New("the answer of the sender is lost")

// origin is where a request is made.
type origin uint8

const (
	ofDeliver origin = iota // function deliver itself
	ofSender                // a sender at another origin
	ofCloud                 // function deliver, by a call of AWS
)

// place lets one endpoint in four send from another region, and one in four from fixed
// addresses. The endpoint's id chooses, so the other draws of the seed stay the same.
func place(e *hook.Endpoint) {
	switch e.ID[len(e.ID)-1] % 4 {
	case 0:
		e.Region = otherRegion
	case 1:
		e.Fixed = true
	}
}

// senders are the senders of other places, as one process calls them.
type senders struct{ p *process }

// Send may refuse before the request: function deliver sends itself, or with fixed
// addresses the message returns. Send may lose the answer after the request: the
// attempt is a failure for function deliver, whatever the receiver answered, and the
// next attempt may be a duplicate for the receiver.
func (s senders) Send(ctx context.Context, r send.Request) (hook.Outcome, error) {
	p := s.p
	defer p.visible()
	var loses bool
	var made int
	err := done(p, "invoke", r.Delivery.String(), local, func() error {
		refuses := p.rng.Float64() < p.rates.refuse
		loses, made = p.rng.Float64() < p.rates.lose, len(p.made)
		if !refuses {
			return nil
		}
		p.count("refusals of senders")
		p.refusals++
		if r.Endpoint.Fixed {
			p.suffer("sender refused")
		}
		return fmt.Errorf("%w: throttled", send.ErrNotSent)
	})
	if err != nil {
		return hook.Outcome{}, err
	}
	outcome := wire{p, ofSender}.Send(ctx, r)
	outcome.Region = r.Endpoint.Region
	if !loses || len(p.made) == made {
		return outcome, nil
	}
	for _, sent := range p.made[made:] { // another record of the batch may have sent meanwhile
		if sent.of.DeliveryID == r.Delivery && sent.of.number == r.Attempt && !sent.ended.IsZero() {
			if sent.outcome.Class == hook.ClassDelivered {
				p.count("duplicates by fault: answer of a sender lost")
			}
			p.count("answers of senders lost")
			sent.outcome = hook.Outcome{Class: hook.ClassReset, Duration: sent.outcome.Duration}
			return hook.Outcome{}, errNoAnswer
		}
	}
	return outcome, nil
}
