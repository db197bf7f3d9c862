package output

import "os"

// WriteAndDie is Write in a process that is killed before its nth step.
func WriteAndDie(folders []Folder, n int) error {
	staged, err := stageAll(folders, false)
	if err != nil {
		return err
	}
	for i, step := range steps(staged) {
		if i == n {
			return die()
		}
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

// AppendAndDie is Append in a process that is killed before its nth step.
func AppendAndDie(folder string, a Addition, n int) error {
	_, steps, err := stageAddition(folder, func(map[string][]byte) (Addition, error) { return a, nil })
	if err != nil {
		return err
	}
	for i, step := range steps {
		if i == n {
			return die()
		}
		if err := step.do(); err != nil {
			return err
		}
	}
	return nil
}

func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {}
}
