package shape

import (
	"encoding/json"

	"surehook.example/surehook/internal/hook"
)

// Steps that an evaluation may take, and a small one.
const (
	MaxSteps   = maxSteps
	SmallSteps = smallSteps
)

// Steps returns the steps of an evaluation that may take so many, for a caller who waits until done is
// closed; more if they run out.
func Steps(expression string, event *hook.Event, most int, done <-chan struct{}) (int, error) {
	e, err := parse(expression)
	if err != nil {
		return 0, err
	}
	v := evaluation{left: most, looked: most, calls: e.calls, done: done}
	_, _, err = e.evaluate(&v, event)
	return most - v.left, err
}

// Number parses a number of a payload.
func Number(text string) (value any, steps int) {
	v := evaluation{left: maxSteps}
	value = v.number(json.Number(text), nil)
	return value, maxSteps - v.left
}

// HoldLarge keeps evaluations of more than smallSteps waiting.
func (s *Shaper) HoldLarge() (leave func()) {
	held, done := make(chan struct{}), make(chan struct{})
	go s.large.within(largePlaces, nil, func() {
		close(held)
		<-done
	})
	<-held
	return func() { close(done) }
}

// Parsed returns a parsed expression, and how many bytes it says that it takes.
func Parsed(text string) (any, int, error) {
	e, err := parse(text)
	if err != nil {
		return nil, 0, err
	}
	return e, e.bytes, nil
}
