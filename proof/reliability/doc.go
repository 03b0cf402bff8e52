// Package reliability compares Surehook's default treatment of endpoints with a
// plain retry schedule, on the same outages. It consists of tests only: the real use
// cases run over the memory ports by a virtual clock.
//
// # Outages
//
// Endpoints in three classes go down and up. Both durations are exponentially
// distributed. Their means follow from two known rates of each class: the success
// of first attempts, and the final success of the reference policy. The reference
// policy makes 8 attempts (after 0, 30 s, 2 m, 10 m, 30 m, 1 h, 4 h and 8 h),
// without a breaker and without parking. docs/reliability.md has the figures.
//
// # Seed
//
// Events, outages and ids follow from one seed, and the retry jitter from the
// ids. So every run has the same figures.
package reliability
