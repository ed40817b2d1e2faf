//! Where calls ask for agents: with what a session is at that moment, for an agent begins with its parent's model,
//! mode and rules.

use std::path::PathBuf;
use std::sync::Arc;

use crate::api::access::Mode;
use crate::api::agent::{AgentEnd, AgentNode, AgentRow, AgentState, Workspace};
use crate::api::message::Thinking;
use crate::base::{EntryId, SessionId};
use crate::engine::clock;
use crate::engine::options::{ModelInUse, Options, Which};
use crate::law::access::rule::Rules;
use crate::law::children::{Asked, By, Event, Refusal, State, Work};
use crate::law::hand_back::rise::file_name;
use crate::store::{self, Dirs};
use crate::tool::Later;
use crate::tool::crew::{Crew as Asks, NewAgent, Rest, Stands};
use crate::workspace::child::Room;

use super::agent::{Agent, ChildOf, Order};
use super::crew::{Crew, Inner, News, above};
use super::post::Post;

/// What a session is when a call asks.
#[derive(Clone)]
pub struct Here {
    pub options: Arc<Options>,
    pub session: SessionId,
    pub model: Option<ModelInUse>,
    pub mode: Mode,
    pub thinking: Thinking,
    pub rules: Rules,
    /// Its tools.
    pub tools: Vec<&'static str>,
    /// Its newest entry.
    pub after: Option<EntryId>,
    /// Its directory.
    pub cwd: PathBuf,
    /// The directory that its work changes, as it really is.
    pub dir: PathBuf,
}

/// The agents of a session, as its calls see them.
pub struct Asking {
    post: Post,
    here: Here,
}

impl Asking {
    /// For a call that runs now.
    pub fn new(post: Post, here: Here) -> Self {
        Self { post, here }
    }
}

impl Here {
    /// How the session of an agent is opened.
    pub(super) fn options_for(
        &self,
        crew: &Crew,
        path: &str,
        node: &AgentNode,
        model: ModelInUse,
    ) -> Options {
        let dir = self.dir_of(node);
        let cwd = match node.workspace {
            Workspace::Shared => self.cwd.clone(),
            // it sees its copy where its parent sees its directory
            Workspace::Isolated => self.seen(),
        };
        let parent = &*self.options;
        Options {
            cwd: Some(cwd),
            which: Which::New,
            model: Some(model.id.clone()),
            fallback: None,
            mode: self.mode,
            thinking: self.thinking,
            rules: self.rules.clone(),
            keep_trust: Arc::new(|_| Err("an agent trusts nothing".into())),
            trusted: None,
            commands: Vec::new(),
            drafts: false,
            notices: Vec::new(),
            limits: crate::engine::Limits { jobs_kept: false, ..parent.limits.clone() },
            child: Some(ChildOf {
                crew: crew.clone(),
                path: path.to_owned(),
                name: node.name.clone(),
                parent: self.session.clone(),
                session: node.session.clone(),
                dir,
                model,
                tools: node.tools.clone(),
            }),
            ..parent.clone()
        }
    }

    /// The model of an agent: the one that is named, else that of who asks; a script speaks for each by its name.
    pub(super) fn model_for(&self, path: &str, named: Option<&str>) -> Result<ModelInUse, String> {
        let model = match named {
            Some(named) => self.options.models.find(named)?,
            None => self.model.clone().ok_or("no model is chosen")?,
        };
        match model.provider.for_agent(path) {
            None => Ok(model),
            Some(Ok(provider)) => Ok(ModelInUse { provider, ..model }),
            Some(Err(why)) => Err(why),
        }
    }

    /// The same for the agents of one of its agents, whose session is not open.
    pub(super) fn of_agent(&self, node: &AgentNode) -> Here {
        let (session, dir) = (node.session.clone(), self.dir_of(node));
        Here { session, cwd: self.seen(), dir, after: None, ..self.clone() }
    }

    /// The directory that the work of an agent changes.
    fn dir_of(&self, node: &AgentNode) -> PathBuf {
        match (&node.workspace, &node.room) {
            (Workspace::Isolated, Some(room)) => Room::at(room).copy(),
            (Workspace::Isolated, None) | (Workspace::Shared, _) => self.dir.clone(),
        }
    }

    /// Its directory as it sees it, every link resolved.
    fn seen(&self) -> PathBuf {
        if self.options.held.is_some() { self.cwd.clone() } else { self.dir.clone() }
    }

    fn check_tools(&self, tools: &[String]) -> Result<(), String> {
        match tools.iter().find(|tool| !self.tools.contains(&tool.as_str())) {
            None => Ok(()),
            Some(tool) => {
                Err(format!("there is no tool {tool} to give: yours are {}", self.tools.join(", ")))
            }
        }
    }
}

fn refused(why: Refusal, name: &str) -> String {
    match why {
        Refusal::Name => format!("{name:?} is no name: it must be 1 to 40 letters, digits, `-` or `_`"),
        Refusal::Taken => {
            format!("an agent {name} is or was there: choose another name, or tell it with `agents`")
        }
        Refusal::Deep { depth } => {
            format!("agents may have agents {depth} deep at most (agents.depth): do it yourself")
        }
        Refusal::ParentEnds => "this agent is being ended".to_owned(),
        Refusal::Many => "there are too many agents in this session".to_owned(),
    }
}

impl Asking {
    fn ask_for(&self, new: NewAgent) -> Result<(), String> {
        let (here, crew) = (&self.here, &self.post.crew);
        here.check_tools(new.tools.as_deref().unwrap_or_default())?;
        let path = self.post.whole(&new.name);
        let model = here.model_for(&path, new.model.as_deref())?;
        let isolated = new.workspace == Workspace::Isolated;
        let room = isolated.then(|| here.options.dirs.workspace(&here.session, &new.name));
        if room.as_ref().is_some_and(|room| room.exists()) || crew.rose_before(&path) {
            return Err(refused(Refusal::Taken, &new.name));
        }
        let now = clock::now();
        let node = AgentNode {
            name: new.name.clone(),
            session: store::session::mint(),
            workspace: new.workspace,
            room,
            model: new.model,
            tools: new.tools,
            budget: new.budget,
            run: 1,
            after: here.after.clone(),
            asked: now,
            told: now,
        };
        let options = here.options_for(crew, &path, &node, model);
        let mut agent =
            Agent::new(node.clone(), options, here.dir.clone(), AgentState::Preparing { files: 0, of: 0 });
        agent.words.push(new.prompt.clone());
        let asked =
            Asked { parent: self.post.path.clone(), name: new.name.clone(), isolated, budget: new.budget };
        let mut inner = crew.inner();
        if inner.closing {
            return Err("the session is being closed".to_owned());
        }
        let effects = inner.law.ask(asked, now).map_err(|why| refused(why, &new.name))?;
        inner.agents.insert(path.clone(), agent);
        inner.publish(&path);
        inner.tell(self.post.path.clone(), News::Began(node, new.prompt));
        crew.carry_out(&mut inner, effects);
        Ok(())
    }
}

impl Crew {
    /// Whether what an earlier agent of this path left rose: its name is that of its workspace.
    fn rose_before(&self, path: &str) -> bool {
        let inner = self.inner();
        let parents = path.match_indices('/').map(|(at, _)| &path[..at]);
        let named = |parent: &str| {
            let child = inner.agents.get(parent)?.options.child.clone()?;
            let below = parent.rsplit_once('/').map_or(path, |(up, _)| &path[up.len() + 1..]);
            let dirs = &inner.agents.get(parent)?.options.dirs;
            Some(dirs.workspace(&child.parent, &file_name(below)).exists())
        };
        parents.filter_map(named).any(|there| there)
    }
}

impl Post {
    /// Tells one of its agents something, in the person's or the model's name; what that means.
    /// `after`: the newest entry of who tells it.
    pub fn message(&self, path: &str, text: String, after: Option<EntryId>) -> Result<&'static str, String> {
        let whole = self.whole(path);
        let mut inner = self.crew.inner();
        if inner.closing {
            return Err("the session is being closed".to_owned());
        }
        let Inner { law, agents, .. } = &mut *inner;
        let Some(agent) = agents.get_mut(&whole) else { return Err(format!("there is no agent {path}")) };
        match law.state(&whole) {
            Some(State::Working(_)) => {
                agent.owes.messages += 1;
                agent.order(Order::Say(text));
                // it may have its answer already, and wait for its own agents only
                let over = matches!(law.state(&whole), Some(State::Working(Work::Over(_))));
                if over {
                    let effects = law.step(&whole, Event::Goes, clock::now());
                    self.crew.carry_out(&mut inner, effects);
                }
                Ok("is told; it reads it between two steps.")
            }
            Some(State::Waiting | State::Preparing) => {
                agent.words.push(text);
                let (node, words) = (agent.row.node.clone(), agent.words.join("\n\n"));
                inner.tell(above(&whole), News::Began(node, words));
                Ok("is told when it begins.")
            }
            Some(State::Stopping(..) | State::HandingBack(_) | State::Again(_)) => {
                Err(format!("{path} is being ended: tell it again when it has ended"))
            }
            // a fresh copy would hide what is in its first one only
            Some(State::Ended(_)) if agent.holds_work() => Err(format!(
                "what {path} changed was not handed back: try that again first (in the list of agents, or \
                 `windlass handback retry {path}`), or drop it (`windlass handback drop {path} --force`)"
            )),
            Some(State::Cut | State::Ended(_)) => {
                let again = matches!(law.state(&whole), Some(State::Ended(_)));
                let effects = law.step(&whole, Event::Woken, clock::now());
                if !matches!(law.state(&whole), Some(State::Waiting | State::Preparing)) {
                    return Err(match law.any_lives(Some(&whole)) {
                        true => format!("its own agents are being ended: tell {path} again when they have"),
                        false => {
                            let asker = path.rsplit_once('/').map_or("who asked for it", |(asker, _)| asker);
                            format!("{path} cannot work again while {asker} does not: tell {asker} first")
                        }
                    });
                }
                agent.words.push(text);
                wake(agent, again, after);
                let (node, words) = (agent.row.node.clone(), agent.words.join("\n\n"));
                inner.tell(above(&whole), News::Began(node, words));
                self.crew.carry_out(&mut inner, effects);
                Ok("works again.")
            }
            None => Err(format!("there is no agent {path}")),
        }
    }
}

/// Its session, or a new one with its id where it never had words.
pub(super) fn which(dirs: &Dirs, session: &SessionId) -> Which {
    if dirs.session(session).exists() { Which::Id(session.clone()) } else { Which::New }
}

/// A run of an agent that has ended, or was cut, begins. One that handed its copy back gets a fresh one.
fn wake(agent: &mut Agent, again: bool, after: Option<EntryId>) {
    agent.options.which = which(&agent.options.dirs, &agent.row.node.session);
    let now = clock::now();
    agent.row.node.told = now;
    if !again {
        return;
    }
    agent.begin_again();
    let node = &mut agent.row.node;
    node.run += 1;
    (node.asked, node.after) = (now, after);
    if let (Workspace::Isolated, Some(child)) = (node.workspace, &mut agent.options.child) {
        // among those of who asks for it, also where the first one rose
        let room = agent.options.dirs.workspace(&child.parent, &format!("{}.{}", node.name, node.run));
        child.dir = Room::at(&room).copy();
        node.room = Some(room);
    }
}

impl Asks for Asking {
    fn ask(&self, new: NewAgent) -> Result<(), String> {
        self.ask_for(new)
    }

    fn stands(&self, path: &str, since: Option<Stands>) -> Later<'_, Stands> {
        let seen = self.post.crew.look(&self.post.whole(path), |agent| agent.stands.subscribe());
        Box::pin(async move {
            let Some(mut seen) = seen else { return Stands::Gone };
            match seen.wait_for(|now| since.as_ref() != Some(now)).await {
                Ok(now) => now.clone(),
                Err(_) => Stands::Gone,
            }
        })
    }

    fn withdraw(&self, path: &str) {
        let whole = self.post.whole(path);
        let inner = self.post.crew.inner();
        // the task of its run finds its copy given up, and says that nothing is left
        if matches!(inner.law.state(&whole), Some(State::Preparing))
            && let Some(agent) = inner.agents.get(&whole)
        {
            agent.progress.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn rows(&self) -> Vec<(String, AgentRow)> {
        self.post.rows()
    }

    fn row(&self, path: &str) -> Option<AgentRow> {
        self.post.crew.look(&self.post.whole(path), |agent| agent.row.clone())
    }

    fn message(&self, path: &str, text: String) -> Result<&'static str, String> {
        self.post.message(path, text, self.here.after.clone())
    }

    fn stop(&self, path: &str) {
        self.post.event(path, Event::Stop(By::Model));
    }

    fn ended(&self, path: &str) -> Later<'_, Option<Arc<AgentEnd>>> {
        let told = self.post.crew.look(&self.post.whole(path), |agent| agent.told.subscribe());
        Box::pin(async move {
            let mut told = told?;
            told.wait_for(Option::is_some).await.ok().and_then(|end| end.clone())
        })
    }

    fn rest(&self) -> Rest {
        let Some(path) = self.post.path.clone() else { return Rest::new(|| ()) };
        let crew = self.post.crew.clone();
        crew.event(&path, Event::Waits);
        Rest::new(move || crew.event(&path, Event::Goes))
    }
}

/// The path of a room's next name is never that of another agent: a name has no `.`.
#[cfg(test)]
mod tests {
    use crate::law::children::{fits, path_of};

    #[test]
    fn a_second_room_is_no_agents_name() {
        assert!(!fits("lexer.2"));
        assert_eq!(path_of(Some("a"), "b"), "a/b");
    }
}
