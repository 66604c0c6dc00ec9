//! Users, guild members and their presences.

use super::source::Source;
use super::text::{EMOJI, joined, title, words};

/// A member of a guild, as parts of JSON.
pub(super) struct Member {
    pub(super) id: u64,
    /// The user object.
    pub(super) user: String,
    /// The fields of the member object except for the user.
    fields: String,
}

impl Member {
    pub(super) fn new(source: &mut Source, roles: &[u64]) -> Member {
        let (id, user) = user(source, false);
        Member::of_user(source, id, user, roles)
    }

    /// Generates the member object of a user in a guild.
    pub(super) fn of_user(source: &mut Source, id: u64, user: String, roles: &[u64]) -> Member {
        let most = roles.len().min(6);
        let mut own: Vec<String> =
            (0..source.below(most + 1)).map(|_| format!(r#""{}""#, source.pick(roles))).collect();
        own.dedup();
        let fields = format!(
            concat!(
                r#""roles":[{roles}],"premium_since":null,"pending":false,"nick":{nick},"mute":false,"#,
                r#""joined_at":"{joined}","flags":{flags},"deaf":false,"#,
                r#""communication_disabled_until":null,"banner":null,"avatar":null"#
            ),
            roles = own.join(","),
            nick = if source.percent(20) { quoted(words(source, 1, 3)) } else { NULL.into() },
            joined = source.past(),
            flags = source.pick(&[0, 0, 2]),
        );
        Member { id, user, fields }
    }

    /// The member object, including the user.
    pub(super) fn object(&self) -> String {
        format!(r#"{{"user":{},{}}}"#, self.user, self.fields)
    }

    /// The member object, including the user and the guild's id.
    pub(super) fn of_guild(&self, guild: u64) -> String {
        format!(r#"{{"user":{},{},"guild_id":"{guild}"}}"#, self.user, self.fields)
    }

    /// The member object without the user.
    pub(super) fn without_user(&self) -> String {
        format!("{{{}}}", self.fields)
    }
}

const NULL: &str = "null";

fn quoted(text: String) -> String {
    format!(r#""{text}""#)
}

/// Generates a user: the id and the JSON object.
pub(super) fn user(source: &mut Source, bot: bool) -> (u64, String) {
    let id = source.id();
    let name = format!("{}{}", joined(source, 2, 3, ""), source.below(10_000));
    let object = format!(
        concat!(
            r#"{{"username":"{name}","public_flags":{flags},"primary_guild":null,"id":"{id}","#,
            r#""global_name":{global},"display_name_styles":null,"discriminator":"0","collectibles":null,"#,
            r#""bot":{bot},"avatar_decoration_data":null,"avatar":{avatar}}}"#
        ),
        name = name,
        flags = source.pick(&[0, 0, 0, 64, 128, 256, 4_194_304]),
        id = id,
        global = if source.percent(50) { quoted(title(source, 1, 3)) } else { NULL.into() },
        bot = bot || source.percent(3),
        avatar = if source.percent(85) { quoted(source.hex()) } else { NULL.into() },
    );
    (id, object)
}

/// Generates a presence. In a PRESENCE_UPDATE event it has the guild's id, but not in GUILD_CREATE.
pub(super) fn presence(source: &mut Source, user: u64, guild: Option<u64>) -> String {
    let mut activities = Vec::new();
    if source.percent(55) {
        activities.push(game(source));
    }
    if source.percent(40) {
        activities.push(status(source));
    }
    let state = source.pick(&["online", "idle", "dnd"]);
    format!(
        r#"{{"user":{{"id":"{user}"}},"status":"{state}","client_status":{{"{}":"{state}"}},"activities":[{}]{}}}"#,
        source.pick(&["desktop", "mobile", "web"]),
        activities.join(","),
        guild.map_or_else(String::new, |id| format!(r#","guild_id":"{id}""#)),
    )
}

fn game(source: &mut Source) -> String {
    let now = source.now();
    format!(
        concat!(
            r#"{{"type":0,"timestamps":{{"start":{now}}},"name":"{name}","id":"{id:x}","created_at":{now},"#,
            r#""application_id":"{app}","assets":{{"large_image":"{image}","large_text":"{text}"}},"#,
            r#""details":"{details}","state":"{state}"}}"#
        ),
        now = now,
        name = title(source, 1, 4),
        id = source.below_u64(1 << 60),
        app = source.id(),
        image = source.id(),
        text = words(source, 1, 5),
        details = words(source, 2, 6),
        state = words(source, 1, 5),
    )
}

fn status(source: &mut Source) -> String {
    format!(
        r#"{{"type":4,"state":"{}","name":"Custom Status","id":"custom","emoji":{{"name":"{}"}},"created_at":{}}}"#,
        words(source, 1, 7),
        source.pick(EMOJI),
        source.now(),
    )
}
