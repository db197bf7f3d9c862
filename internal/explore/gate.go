package explore

import "sync/atomic"

// gate is where a session pauses before each of its steps.
type gate struct {
	arrived chan string   // what the step is
	proceed chan struct{} // the explorer's leave to take it
	open    atomic.Bool   // no pause: the session prepares itself, or takes a whole verb as one step
}

func newGate() *gate {
	return &gate{arrived: make(chan string, 1), proceed: make(chan struct{})}
}

// pause waits for the explorer's leave.
func (g *gate) pause(step string) {
	if g.open.Load() {
		return
	}
	g.arrived <- step
	<-g.proceed
}
