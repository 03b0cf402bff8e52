package hook

// Envelope is the form in which an endpoint receives the payload of an event. A request with
// several events has its own form, whatever the envelope.
type Envelope uint8

// The envelopes. EnvelopeRaw is the zero Envelope.
const (
	EnvelopeRaw      Envelope = iota // the payload alone; the type of the event is not signed
	EnvelopeStandard                 // of Standard Webhooks: type, timestamp and data
	EnvelopeThin                     // id, type and timestamp, without the payload
)

// ValidateShape refuses shapes of single events for an endpoint that receives several events in
// one request.
func ValidateShape(e Endpoint) []FieldError {
	var errs Fields
	errs.Refuse(e.Coalesce.On() && e.Envelope == EnvelopeThin,
		"envelope", "must be raw or standard with coalesce: a request with several events has a form of its own")
	errs.Refuse(e.Coalesce.On() && e.Transformation != "",
		"transformation", "must be empty with coalesce: a request with several events has a form of its own")
	return errs
}

// String returns the envelope as it appears in the API.
func (e Envelope) String() string {
	return Names[Envelope]{EnvelopeRaw: "raw", EnvelopeStandard: "standard", EnvelopeThin: "thin"}.Of(e)
}
